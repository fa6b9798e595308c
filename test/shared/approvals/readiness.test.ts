import { canonicalDigest } from 'computation-management-formats/digests';
import { quotedName } from 'computation-management-formats/quoted-name';
import { describe, expect, it } from 'vitest';
import { becauseOf, isStale, neededApprovals, ownReasons, readinessOf } from '../../../shared/approvals/readiness.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import type { StoredApproval } from '../../../shared/rows/stored-approval.ts';
import { approvableOf, type Inputs } from '../../../shared/rows/manifest.ts';
import { clockOfTests } from '../../support/append-to-journal.ts';
import { aKeyOf, anAssetRow, inputs } from '../../support/builders-store.ts';
import { sealedAs } from '../../support/sealed-as.ts';

const at = clockOfTests;
const { digest = '', configuration_digest } = approvableOf(inputs());

function anApproval(user_id: string, fields: Partial<StoredApproval> = {}): StoredApproval {
  return {
    user_id,
    digest,
    configuration_digest,
    cvm_ids: null,
    certificates: {},
    expires_at: null,
    signature: null,
    key: null,
    max_runs: null,
    approval_id: null,
    journal_head: null,
    approved_at: at,
    ...fields,
  };
}

const withLevel = (approval: 'none' | 'all' | 'all_signed', fields: Partial<Inputs> = {}): Inputs => ({
  ...inputs(fields),
  computation: { ...inputs().computation, approval },
});
const atLevel = (approval: 'none' | 'all' | 'all_signed') => approvableOf(withLevel(approval)).configuration_digest;
const cvm = (id: string, certificate?: string) => ({ id, certificate });

const needed = (given: Inputs) => neededApprovals(given).map((each) => ({ user: each.user, because: becauseOf(each) }));

const restricted = inputs({ datasets: [anAssetRow({ use: 'approval' })] });
const nothing = { keys: [], hashes: [], info: [] };

describe('a refusal', () => {
  const refusedBy = (user_id: string, reason: string) => ({
    ...restricted,
    refusals: [{ user_id, digest, configuration_digest, reason, refused_at: at }],
  });
  const infoWith = (user: string, reason: string) => readinessOf(refusedBy(user, reason), { at }).missing.info;

  it('stands in the place of a needed approval, quoted and limited to 300 characters', () => {
    expect(infoWith('bob', 'Not before May.')).toEqual(['bob refuses: Not before May.']);
    expect(infoWith('bob', 'no, alice refuses: no')).toEqual(['bob refuses: "no, alice refuses: no"']);
    expect(infoWith('bob', `no"\nalice refuses: ${'x'.repeat(400)}`)).toEqual([
      `bob refuses: "no\\"\\u{000A}alice refuses: ${'x'.repeat(281)}"…`,
    ]);
    expect(infoWith('bob', 'Für später')).toEqual(['bob refuses: Für später']);
  });

  it('blocks nothing where the approval of its user is not needed', () => {
    expect(infoWith('carol', 'Not before May.')).toEqual(['Approval of bob for iris.csv']);
    const { missing } = readinessOf({ ...refusedBy('bob', 'No.'), datasets: [anAssetRow()] }, { at });
    expect(missing).toEqual(nothing);
  });
});

describe('neededApprovals', () => {
  it('are none if neither the assets nor the computation need approval', () => {
    expect(needed(inputs())).toEqual([]);
    expect(readinessOf(inputs(), { at }).missing).toEqual(nothing);
  });

  it('are those of the creators of assets whose use takes approval, with the file names', () => {
    const datasets = [
      anAssetRow({ use: 'approval' }),
      anAssetRow({ file_name: 'b.csv' }),
      anAssetRow({ file_name: 'c.csv', use: 'approval' }),
    ];
    expect(needed(inputs({ datasets }))).toEqual([{ user: 'bob', because: ['iris.csv', 'c.csv'] }]);
  });

  it.each(['all', 'all_signed'] as const)('are those of all creators and result consumers at the level %s', (level) => {
    const keys = [aKeyOf('alice'), aKeyOf('bob'), aKeyOf('carol', { is_consumer: true }), aKeyOf('dave')];
    expect(needed(withLevel(level, { keys }))).toEqual([
      { user: 'bob', because: ['algorithm.py', 'iris.csv'] },
      { user: 'alice', because: ['result consumer'] },
      { user: 'carol', because: ['result consumer'] },
    ]);
  });

  it('names the owner also before the owner has uploaded a key', () => {
    expect(needed(withLevel('all', { keys: [aKeyOf('bob')] }))).toContainEqual({
      user: 'alice',
      because: ['result consumer'],
    });
  });
});

describe('readinessOf', () => {
  it('names the users and files whose approval is missing, also while there is no manifest', () => {
    expect(readinessOf(restricted, { at }).missing).toEqual({ ...nothing, info: ['Approval of bob for iris.csv'] });
    const info = ['Missing algorithm', 'Approval of bob for iris.csv', 'Approval of alice as result consumer'];
    expect(readinessOf(withLevel('all', { algorithm: undefined }), { at })).toMatchObject({
      snapshot: undefined,
      missing: { ...nothing, info },
    });
  });

  it('tells a file named `result consumer` from a result consumer', () => {
    const datasets = [anAssetRow({ file_name: 'result consumer', use: 'approval' })];
    const ofFile = 'Approval of bob for "result consumer"';
    expect(readinessOf(inputs({ datasets }), { at }).missing.info).toEqual([ofFile]);
    expect(needed(inputs({ datasets }))).toEqual([{ user: 'bob', because: ['"result consumer"'] }]);
    const keys = [aKeyOf('alice'), aKeyOf('bob', { is_consumer: true })];
    const { missing } = readinessOf(withLevel('all', { datasets, keys }), { at });
    expect(missing.info.filter((sentence) => sentence.includes('bob'))).toEqual([
      'Approval of bob for algorithm.py',
      ofFile,
      'Approval of bob as result consumer',
    ]);
  });

  it.each(['bob for x', 'you', 'bob, which allows only the CVM a', 'b\u202Eob'])(
    'quotes the names of users and files that could pass for its words: %j',
    (created_by) => {
      const datasets = [anAssetRow({ file_name: 'a for b', created_by, use: 'approval' })];
      const info = [`Approval of ${quotedName(created_by)} for "a for b"`];
      expect(readinessOf(inputs({ datasets }), { at }).missing.info).toEqual(expect.arrayContaining(info));
    },
  );

  it('keeps the manifest, its digest, the assets and the approvals that count', () => {
    const approvals = [
      anApproval('carol'),
      anApproval('bob', { cvm_ids: ['cvm-1'], certificates: { 'cvm-1': null } }),
      anApproval('dave', { digest: 'another' }),
    ];
    const { snapshot, missing } = readinessOf({ ...restricted, approvals }, { at, cvm: cvm('cvm-1') });
    expect(missing).toEqual(nothing);
    expect(snapshot).toMatchObject({
      manifest_digest: digest,
      assets: [
        { creator: 'bob', use: 'open', checksum: '07'.repeat(32) },
        { creator: 'bob', use: 'approval', checksum: '07'.repeat(32) },
      ],
      configuration_digest,
      approvals: [{ user: 'bob', digest, configuration_digest, cvm_ids: ['cvm-1'] }, { user: 'carol' }],
      approval: 'none',
      log_access: 'none',
      result_consumers: ['alice'],
    });
    expect(canonicalDigest(snapshot?.manifest ?? {})).toBe(digest);
  });

  it('does not let missing approvals change the manifest or its digest', () => {
    expect(approvableOf(restricted)).toEqual(approvableOf(inputs()));
  });

  it('counts an approval only on one of the CVMs that it names, with the certificate that this had, and says so', () => {
    const on = (cvm_ids: string[], ...of: Parameters<typeof cvm>) => {
      const approvals = [anApproval('bob', { cvm_ids, certificates: { a: null, b: 'one', c: null } })];
      return readinessOf({ ...restricted, approvals }, { at, cvm: cvm(...of) }).missing.info;
    };
    expect([on(['a', 'b'], 'a'), on(['a', 'b'], 'b', 'one')]).toEqual([[], []]);
    expect(on(['a'], 'a', 'since')).toEqual(['Approval of bob, which allows the CVM a only with another certificate']);
    expect(on(['a'], 'b', 'one')).toEqual(['Approval of bob, which allows only the CVM a']);
    expect(on(['a', 'b', 'c'], 'd')).toEqual(['Approval of bob, which allows only the CVMs a, b and c']);
    for (const other of ['other', undefined]) {
      expect(on(['b'], 'b', other)).toEqual(['Approval of bob, which allows the CVM b only with another certificate']);
    }
    const anywhere = readinessOf({ ...restricted, approvals: [anApproval('bob', { cvm_ids: ['a'] })] }, { at });
    expect(anywhere.missing.info).toEqual([]);
  });

  it('counts an approval only before it expires', () => {
    const until = (expires_at: string) =>
      readinessOf({ ...restricted, approvals: [anApproval('bob', { expires_at })] }, { at }).missing.info.length;
    const counting = ['2025-07-17T08:00:00.001Z', '2025-07-17T10:00:01+02:00', '2025-07-17 08:00:00.5Z', '2199-12-31T23:59:60Z'];
    const expired = ['2025-07-17T08:00:00.000Z', '2025-07-17T10:00:00+02:00', '2025-07-17t08:00:00z', '2016-12-31T23:59:60Z'];
    expect(counting.map(until)).toEqual([0, 0, 0, 0]);
    expect([...expired, 'never'].map(until)).toEqual([1, 1, 1, 1, 1]);
  });

  it('counts an approval without a signature until the computation takes signatures', () => {
    const signed = (user: string) => anApproval(user, { signature: 'AAAA', key: aKeyOf(user).user_key });
    const unsigned = ['alice', 'bob'].map((user) => anApproval(user));
    const missing = (level: 'all' | 'all_signed', given: StoredApproval[]) => {
      const approvals = given.map((each) => ({ ...each, configuration_digest: atLevel(level) }));
      return readinessOf(withLevel(level, { approvals }), { at }).missing;
    };
    const isStaleAt = (level: 'none' | 'all' | 'all_signed') => {
      const context = { digest, configuration_digest: atLevel(level), at };
      return isStale(anApproval('bob', context), withLevel(level), context);
    };
    expect([isStaleAt('none'), isStaleAt('all'), isStaleAt('all_signed')]).toEqual([false, false, true]);
    expect(missing('all', unsigned)).toEqual(nothing);
    expect(missing('all_signed', ['alice', 'bob'].map(signed))).toEqual(nothing);
    expect(missing('all_signed', [signed('alice'), anApproval('bob')]).info).toEqual([
      'Approval of bob for algorithm.py',
      'Approval of bob for iris.csv',
    ]);
  });

  it('refuses a run whose record would not fit into one item', () => {
    const users = Array.from({ length: 150 }, (_, index) => `user-${index}`);
    const approvals = users.map((user) => anApproval(user, { signature: 'A'.repeat(2732) }));
    expect(readinessOf(inputs({ approvals }), { at }).missing.info).toEqual([expect.stringContaining('use fewer parties')]);
  });
});

describe('an approval', () => {
  const isStaleWith = (fields: Partial<Inputs>, approval = anApproval('bob')) =>
    isStale(approval, inputs(fields), { digest: undefined, ...approvableOf(inputs(fields)), at });

  it('stays when log_level or server_key changes', () => {
    expect(isStaleWith({ agent_config: { ...defaultAgentConfig, log_level: 'debug' } })).toBe(false);
    const secret = { ...defaultAgentConfig, cert_file: 'c', server_key: sealedAs('k') };
    const { configuration_digest: before } = approvableOf(
      inputs({ agent_config: { ...secret, server_key: sealedAs('another') } }),
    );
    expect(isStaleWith({ agent_config: secret }, anApproval('bob', { configuration_digest: before }))).toBe(false);
  });

  it.each<[string, Partial<Inputs>]>([
    ...Object.entries({ cert_file: 'c', server_ca_file: 'c', client_ca_file: 'c', attested_tls: true }).map(
      ([name, value]): [string, Partial<Inputs>] => [name, { agent_config: { ...defaultAgentConfig, [name]: value } }],
    ),
    ['a raised approval', withLevel('all')],
    ['a dataset', { datasets: [] }],
    ['a hash', { datasets: [anAssetRow({ checksum: '08'.repeat(32) })] }],
    ['a key', { keys: [aKeyOf('alice'), aKeyOf('bob', { user_key: 'AAAA' })] }],
    ['a consumer', { keys: [...inputs().keys, aKeyOf('carol', { is_consumer: true })] }],
    ['the manifest, which is incomplete now', { algorithm: undefined }],
  ])('becomes stale with %s', (_what, fields) => {
    expect(isStaleWith(fields)).toBe(true);
  });

  it('that is signed becomes stale when the user uploads another key', () => {
    const signed = anApproval('bob', { signature: 'AAAA', key: aKeyOf('bob').user_key });
    expect(isStaleWith({}, signed)).toBe(false);
    const datasets = [anAssetRow({ user_key: aKeyOf('bob').user_key })];
    const algorithm = anAssetRow({ asset_type: 'algorithm', user_key: aKeyOf('bob').user_key });
    const keys = [aKeyOf('alice'), aKeyOf('bob', { user_key: 'AAAA' })];
    expect(isStale(signed, inputs({ algorithm, datasets, keys }), { digest, configuration_digest, at })).toBe(true);
    expect(isStale(anApproval('bob'), inputs({ algorithm, datasets, keys }), { digest, configuration_digest, at })).toBe(false);
  });
});

describe('ownReasons', () => {
  it('name the key that another one has replaced, the missing signature and the time', () => {
    const given = inputs({ keys: [aKeyOf('bob')] });
    const current = given.keys[0]?.user_key;
    expect(ownReasons(anApproval('bob', { signature: 's', key: 'k' }), given, at)).toEqual([
      { path: '/signature', approved: 'k', current },
    ]);
    expect(ownReasons(anApproval('bob', { expires_at: at }), withLevel('all_signed'), at)).toEqual([
      { path: '/signature', approved: null, current: 'required' },
      { path: '/expires_at', approved: at, current: at },
    ]);
    expect(ownReasons(anApproval('bob', { signature: 's', key: current ?? '' }), given, at)).toEqual([]);
  });
});
