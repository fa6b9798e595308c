import { changeCards } from 'computation-management-words';
import { attestationPolicy } from 'computation-management-formats/attestation';
import { type ApprovalChange } from 'computation-management-formats/covered-changes';
import { describe, expect, it } from 'vitest';
import { changesOfEachField } from '../../support/covered-changes.ts';

const at = '2026-01-01T00:00:00.000Z';
const event = (event_type: string, details: Record<string, unknown>) => ({
  event_type,
  originator: 'alice',
  timestamp: at,
  details: btoa(JSON.stringify(details)),
});
const [one, two] = ['100e'.padEnd(64, '0'), 'bc76'.padEnd(64, '0')];
const events = [
  event('asset_linked', { file_name: 'penguin-sizes-v2.py', asset_type: 'algorithm' }),
  event('asset_unlinked', { file_name: 'penguin-sizes.py', asset_type: 'algorithm' }),
];
type Entry = ApprovalChange & { user?: string; by?: string; at?: string };
const linked = (...names: string[]) => names.map((file_name) => ({ id: '', file_name, asset_type: 'dataset' as const }));
const cardsOf = (changes: Entry[], { assets = linked('a.csv'), events = [] as unknown[] } = {}) =>
  changeCards(
    {
      approved_at: at,
      cvm_ids: ['cvm-1'],
      stale_because: changes.map((change) => ({ user: null, by: null, at: null, ...change })),
    },
    { computation: { parties: [{ user: 'alice', parts: ['owner'], invited: false }], assets }, events: events as never },
  );
type Value = ApprovalChange['approved'];
const sentences = (path: string, approved: Value, current: Value, by: { by?: string }) =>
  cardsOf([{ path, approved, current, ...by }], { events }).map(({ sentence }) => sentence);

describe('changeCards', () => {
  it.each([
    [
      '/manifest/algorithm/hash',
      one,
      two,
      `alice replaced penguin-sizes.py 100e0000…00000000 by penguin-sizes-v2.py bc760000…00000000`,
    ],
    ['/manifest/algorithm/hash', one, null, `alice removed penguin-sizes.py 100e0000…00000000, the algorithm`],
    ['/manifest/algorithm/user_key', 'k', 'l', 'the key of the algorithm was replaced'],
    [
      '/manifest/algorithm/hash',
      'x, and all is well',
      one,
      'penguin-sizes.py "x, and all is well" was replaced by penguin-sizes-v2.py 100e0000…00000000',
    ],
    ['/manifest/algorithm/algo_args/1', null, '--all', 'the argument --all of the algorithm was added'],
    ['/manifest/datasets/0/source/url', 'https://a', null, 'the address of a.csv was changed from "https://a" to nothing'],
    ['/manifest/datasets/0/hash', one, two, 'a.csv 100e0000…00000000 was replaced by bc760000…00000000'],
    ['/manifest/datasets/1/filename', null, 'b.csv', `alice added the dataset b.csv`],
    ['/manifest/datasets/1/filename', 'c.csv, and', null, 'the dataset "c.csv, and" was removed'],
    ['/manifest/datasets/0/filename', 'b.csv', 'a.csv', 'The datasets have another order'],
    ['/manifest/result_consumers/1/user_key', null, 'k', 'the holder of the key invalid: "k" receives the results now'],
    ['/manifest/name', 'A', 'B\u202e"', `alice changed the name from A to "B\\u{202E}\\""`],
    ['/max_runs', 3, 3, 'The approval was for 3 runs, which have all started'],
    ['/max_runs', 1, 1, 'The approval was for one run, which has started'],
    ['/manifest', one, null, 'The manifest is not complete any more'],
    [
      '/configuration/agent_config/attested_tls',
      true,
      false,
      `alice changed the attestation of the TLS of the agent from true to false`,
    ],
    ['/configuration/attestation_policy/minimum_tcb/snp', 1, 2, 'the least version of the SNP firmware was changed from 1 to 2'],
    ['/manifest/x. Approve again', 'A', 'B', 'the field "x. Approve again" was changed from A to B'],
    ['/manifest/constructor', 'A', 'B', 'the field constructor was changed from A to B'],
    ['/configuration/agent_config/cert_file', '', 'nothing', 'the certificate of the agent was changed from "" to "nothing"'],
    ['/configuration/log_access', 'none', 'parties', 'the access to logs was changed from none to parties'],
    ['/signature', 'k', 'l', 'The key that signed the approval was replaced'],
    ['/signature', null, 'required', 'The approval is not signed, and signatures are required now'],
    ['/expires_at', at, at, `The approval expired at ${at}`],
    ['/expires_at', 'never. All is well', at, 'The approval expired at "never. All is well"'],
    ['/cvm_ids/0', 'f', null, 'The CVM cvm-1 has another certificate'],
  ])('says in words that %s changed from %j to %j', (path, approved, current, sentence) => {
    expect(sentences(path, approved, current, sentence.startsWith('alice ') ? { by: 'alice' } : {})).toEqual([sentence]);
  });

  it.each(changesOfEachField())('has words for $path, not the name of the field', ({ path, changes }) => {
    const told = cardsOf(changes);
    expect(told.length, path).toBeGreaterThan(0);
    for (const { sentence } of told) expect(sentence).not.toMatch(/the field|_|\w\.(?!csv)\w/);
  });

  it('tells what a kept dataset gained at the place of a removed one, and that a list of 20 may be cut', () => {
    const changes = [
      { path: '/manifest/datasets/0/filename', approved: 'gone.csv', current: null },
      { path: '/manifest/datasets/0/source/url', approved: null, current: 'https://a' },
      ...Array.from({ length: 18 }, (_, index) => ({ path: `/manifest/f${index}`, approved: 1, current: 2 })),
    ];
    const told = cardsOf(changes, { assets: linked('algorithm') }).map(({ sentence }) => sentence);
    expect(told[0]).toBe('There may be more changes: check everything again');
    expect(told[2]).toBe('the address of "algorithm" was changed from nothing to "https://a"');
  });

  it('says once that a dataset was removed, and once that the order is another', () => {
    const removed = ['filename', 'hash', 'user_key', 'source/url'].map((field) => ({
      path: `/manifest/datasets/0/${field}`,
      approved: 'x',
      current: null,
    }));
    const moved = [1, 2].map((index) => ({ path: `/manifest/datasets/${index}/filename`, approved: 'b', current: 'c' }));
    expect(cardsOf([...removed, ...moved]).map(({ sentence }) => sentence)).toEqual([
      'the dataset x was removed',
      'The datasets have another order',
    ]);
  });
});

describe('the effect of a change', () => {
  const policy = '/configuration/attestation_policy';
  it.each([
    ['/configuration/log_access', 'none', 'parties', 'weaker'],
    ['/configuration/approval', 'all', 'all_signed', 'stricter'],
    ['/configuration/approval', 'all', 'none', 'weaker'],
    ['/configuration/agent_config/attested_tls', true, false, 'weaker'],
    ['/configuration/agent_config/client_ca_file', '', 'ca.pem', 'stricter'],
    ['/configuration/agent_config/client_ca_file', 'ca.pem', 'other.pem', 'changed'],
    [`${policy}/vmpl`, 0, null, 'weaker'], // the whole policy goes
    [`${policy}/vmpl`, null, 0, 'stricter'],
    [`${policy}/platforms/0`, 'snp', null, 'stricter'],
    [`${policy}/platforms/0`, null, 'az-snp-vtpm', 'weaker'],
    ['/configuration/result_review/reviewers/1', null, 'mallory', 'weaker'],
    [`${policy}/platforms/1`, null, 'tdx', 'weaker'],
    [`${policy}/measurements/1`, null, 'cd'.repeat(48), 'weaker'],
    [`${policy}/measurements/1`, 'cd'.repeat(48), null, 'stricter'],
    [`${policy}/accepted_tcb_statuses/1`, null, 'OutOfDate', 'weaker'],
    [`${policy}/accepted_advisories/0`, null, 'INTEL-SA-00837', 'weaker'],
    [`${policy}/vmpl`, 0, 2, 'weaker'],
    [`${policy}/minimum_tcb/snp`, 3, 2, 'weaker'],
    [`${policy}/minimum_tcb/snp`, null, 2, 'stricter'],
    [`${policy}/allow_debug`, false, true, 'weaker'],
    [`${policy}/allow_reconnect`, true, false, 'stricter'],
    [`${policy}/allow_used_guest`, false, true, 'weaker'],
    ['/manifest/algorithm/source/encrypted', true, null, 'weaker'],
    ['/manifest/result_consumers/1/user_key', null, 'k', 'weaker'],
    ['/manifest/result_consumers/1/user_key', 'k', null, 'stricter'],
    ['/manifest/algorithm/hash', one, two, 'changed'],
  ] as const)('of %s from %j to %j is %s', (path, approved, current, effect) => {
    expect(cardsOf([{ path, approved, current }])).toMatchObject([{ effect }]);
  });

  it('of an entry that only moved within its list is none, and a policy that goes is one card', () => {
    const at = (index: number, approved: Value, current: Value) => ({
      path: `${policy}/measurements/${index}`,
      approved,
      current,
    });
    expect(cardsOf([at(0, 'b'.repeat(96), 'a'.repeat(96)), at(1, null, 'b'.repeat(96))])).toMatchObject([
      { sentence: 'the measurement aaaaaaaa…aaaaaaaa of the attestation policy was added', effect: 'weaker' },
    ]);
    const gone = ['platforms/0', 'vmpl', 'allow_debug'].map((member) => ({
      path: `${policy}/${member}`,
      approved: 'x',
      current: null,
      by: 'alice',
    }));
    expect(cardsOf(gone)).toMatchObject([
      { sentence: 'alice removed the attestation policy: any machine may run this now', effect: 'weaker', subject: 'machine' },
    ]);
  });

  it('is said of each of two added measurements, however alike they begin and end', () => {
    const added = ['1', '2'].map((digit, index) => ({
      path: `${policy}/measurements/${index}`,
      approved: null,
      current: `abcd${'0'.repeat(40)}${digit}`.padEnd(96, '0'),
    }));
    expect(cardsOf(added).map(({ current }) => current?.[0]?.text)).toEqual(added.map(({ current }) => `"${current}"`));
  });

  it('stands beside both values, in which only the letters that differ are marked', () => {
    const path = '/manifest/algorithm/source/url';
    const [card] = cardsOf([{ path, approved: 'https://example.com/a', current: 'https://examp1e.com/a' }]);
    const differing = (marked: { text: string; differs: boolean }[] | null) =>
      marked?.filter(({ differs }) => differs).map(({ text }) => text);
    expect([differing(card?.approved ?? null), differing(card?.current ?? null)]).toEqual([['l'], ['1']]);
    expect(card?.warning).toBe('"https://examp1e.com/a" looks like "https://example.com/a"');
    const [whole] = cardsOf([{ path, approved: 'abc', current: 'xyz' }]);
    expect(whole?.current).toEqual([{ text: '"xyz"', differs: true }]);
  });
});

/** Returns the paths of the values in the configuration that an approval covers. An entry of a list or of a record is one value. */
function placesIn(schema: object, path: string): string[] {
  const { wrapped, entries, item, value } = schema as Partial<Record<'wrapped' | 'entries' | 'item' | 'value', object>>;
  if (wrapped) return placesIn(wrapped, path);
  if (item) return [`${path}/1`];
  if (entries) return Object.entries<object>({ ...entries }).flatMap(([name, each]) => placesIn(each, `${path}/${name}`));
  return value ? [`${path}/7`] : [path];
}

describe('each member of the attestation policy', () => {
  type Effect = 'weaker' | 'changed' | 'stricter';
  const rule: Effect[] = ['stricter', 'weaker', 'changed'];
  const exception: Effect[] = ['weaker', 'stricter', 'changed'];
  const digits = (digit: string, length: number): [Value, Value] => [digit.repeat(length), 'f'.repeat(length)];
  /** Two values of each member, and the effects where the first comes, goes, and becomes the second. */
  const decided: Record<string, [values: [Value, Value], effects: Effect[]]> = {
    'platforms/1': [['tdx', 'snp-vtpm'], exception],
    'measurements/1': [digits('a', 96), exception],
    'pcrs/sha256/7': [digits('b', 64), rule],
    ...Object.fromEntries(
      ['bootloader', 'tee', 'snp', 'microcode', 'fmc'].map((name) => [
        `minimum_tcb/${name}`,
        [
          [3, 2],
          ['stricter', 'weaker', 'weaker'],
        ],
      ]),
    ),
    'accepted_tcb_statuses/1': [['OutOfDate', 'ConfigurationNeeded'], exception],
    'accepted_advisories/1': [['INTEL-SA-00837', 'INTEL-SA-00838'], exception],
  };
  const settings: Record<string, [values: [Value, Value], effect: Effect]> = {
    vmpl: [[0, 2], 'weaker'],
    allow_debug: [[false, true], 'weaker'],
    allow_reconnect: [[false, true], 'weaker'],
    allow_used_guest: [[false, true], 'weaker'],
  };
  const tell = (name: string, approved: Value, current: Value) =>
    cardsOf([{ path: `/configuration/attestation_policy/${name}`, approved, current }]);

  it('is among those whose changes are decided here', () => {
    const places = placesIn(attestationPolicy, '').map((place) => place.replace(/^\/pcrs\/sha256\/\d+$/, '/pcrs/sha256/7'));
    expect([...new Set(places)].sort()).toEqual(
      [...Object.keys(decided), ...Object.keys(settings)].map((name) => `/${name}`).sort(),
    );
  });

  it.each([
    ...Object.entries(decided).flatMap(([name, [[one, other], [comes, goes, becomes]]]) => [
      { name, approved: null, current: one, effects: [comes] },
      { name, approved: one, current: null, effects: [goes] },
      // Another entry of a list is one that came and one that went.
      { name, approved: one, current: other, effects: comes === 'weaker' ? ['stricter', 'weaker'] : [becomes] },
    ]),
    ...Object.entries(settings).map(([name, [[approved, current], effect]]) => ({ name, approved, current, effects: [effect] })),
  ])('has words for $name from $approved to $current: $effects', ({ name, approved, current, effects }) => {
    const told = tell(name, approved, current);
    expect(told.map(({ effect }) => effect).sort()).toEqual(effects.toSorted());
    for (const { subject, sentence } of told) {
      expect(subject).toBe('machine');
      expect(sentence).not.toMatch(/the field|_|\b(?:pcrs|sha256|fmc|tee)\b/);
    }
  });

  it('is named with the number of its PCR', () => {
    const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
    expect(sentences(`/configuration/attestation_policy/pcrs/sha256/7`, a, null, { by: 'alice' })).toEqual([
      'alice removed the value that PCR 7 must have: aaaaaaaa…aaaaaaaa',
    ]);
    expect(sentences(`/configuration/attestation_policy/pcrs/sha256/11`, a, b, { by: 'alice' })).toEqual([
      'alice changed the value that PCR 11 must have from aaaaaaaa…aaaaaaaa to bbbbbbbb…bbbbbbbb',
    ]);
  });
});

describe('the key of a file', () => {
  it.each([
    [null, 'alice removed the key of a.csv'],
    ['l', 'alice replaced the key of a.csv, which is now that of bob'],
  ])('that becomes %s is that of another user only where there is one', (current, sentence) => {
    const change = { path: '/manifest/datasets/0/user_key', approved: 'k', current, by: 'alice', user: 'bob' };
    expect(cardsOf([change])).toMatchObject([{ sentence }]);
  });
});

describe('a receiver of the results', () => {
  const key = '/manifest/result_consumers/1/user_key';
  const other = '/manifest/result_consumers/2/user_key';
  const like = '\u0430lice';
  const by = { by: 'alice', at };

  it('that takes the place of another is named first, with both people and a name that looks like another', () => {
    const cards = cardsOf([
      { path: '/configuration/log_access', approved: 'none', current: 'parties', ...by },
      { path: key, approved: 'k', current: null, user: like, ...by },
      { path: other, approved: null, current: 'l', user: 'carol', ...by },
    ]);
    expect(cards).toMatchObject([
      {
        subject: 'receiver',
        user: 'carol',
        effect: 'weaker',
        sentence: String.raw`alice lets carol receive the results in place of "\u{0430}lice" (looks like alice)`,
        ...by,
      },
      { subject: 'logs', effect: 'weaker', sentence: 'alice changed the access to logs from none to parties' },
    ]);
    expect(cardsOf([{ path: other, approved: null, current: 'l', user: like, ...by }])).toMatchObject([
      { warning: String.raw`"\u{0430}lice" looks like alice`, sentence: expect.stringContaining('(looks like alice) receive') },
    ]);
  });
});
