import { changeCards } from 'computation-management-words';
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
  event('updated', { fields: ['name', 'agent_config.attested_tls'] }),
  event('asset_linked', { file_name: 'b.csv', asset_type: 'dataset' }),
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
const sentences = (path: string, approved: string | number | boolean | null, current: string | number | boolean | null) =>
  cardsOf([{ path, approved, current }], { events }).map(({ sentence, at }) => sentence + (at === undefined ? '' : ` at ${at}`));

describe('changeCards', () => {
  it.each([
    ['/manifest/algorithm/hash', one, two, `alice replaced penguin-sizes.py 100e… by penguin-sizes-v2.py bc76… at ${at}`],
    ['/manifest/algorithm/hash', one, null, `alice removed penguin-sizes.py 100e…, the algorithm at ${at}`],
    ['/manifest/algorithm/user_key', 'k', 'l', 'the key of the algorithm was replaced'],
    ['/manifest/algorithm/algo_args/1', null, '--all', 'the argument --all of the algorithm was added'],
    ['/manifest/datasets/0/source/url', 'https://a', null, 'the address of a.csv was changed from "https://a" to nothing'],
    ['/manifest/datasets/0/hash', one, two, 'a.csv 100e… was replaced by bc76…'],
    ['/manifest/datasets/1/filename', null, 'b.csv', `alice added the dataset b.csv at ${at}`],
    ['/manifest/datasets/1/filename', 'c.csv, and', null, 'the dataset "c.csv, and" was removed'],
    ['/manifest/datasets/0/filename', 'b.csv', 'a.csv', 'The datasets have another order'],
    ['/manifest/result_consumers/1/user_key', null, 'k', 'the holder of the key invalid: "k" receives the results now'],
    ['/manifest/name', 'A', 'B\u202e"', `alice changed the name from A to "B\\u{202E}\\"" at ${at}`],
    ['/manifest', one, null, 'The manifest is not complete any more'],
    [
      '/configuration/agent_config/attested_tls',
      true,
      false,
      `alice changed the attestation of the TLS of the agent from true to false at ${at}`,
    ],
    ['/configuration/attestation_policy/minimum_tcb/snp', 1, 2, 'the least version of snp was changed from 1 to 2'],
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
    expect(sentences(path, approved, current)).toEqual([sentence]);
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
    expect(told[1]).toBe('the address of "algorithm" was changed from nothing to "https://a"');
    expect(told.at(-1)).toBe('There may be more changes: check everything again');
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
