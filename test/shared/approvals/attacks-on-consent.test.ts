import { generateKeyPairSync } from 'node:crypto';
import type { AttestationPolicy } from 'computation-management-formats/attestation';
import type { ResultReview } from 'computation-management-formats/consent';
import { type ChangeCard, changeCards } from 'computation-management-words';
import { describe, expect, it } from 'vitest';
import { listApprovals } from '../../../shared/approvals/list-approvals.ts';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { linkAsset, unlinkAsset } from '../../../shared/assets/link-asset.ts';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { uploadKey } from '../../../shared/keys/participant-keys.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { type ComputationFields, fieldsOf } from '../../../shared/rows/computation.ts';
import { readPublicKey } from '../../../shared/rows/public-key.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { aComputation, allowed, anApproval, byAlice, startStores } from '../../support/builders-store.ts';
import { newCvmBody } from '../../support/cvm-certificate.ts';
import { sealedAs } from '../../support/sealed-as.ts';
import { changesOfEachField } from '../../support/covered-changes.ts';
import { seededRandom, shuffled } from '../../support/seeded-random.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { strictPolicy } from '../../support/strict-policy.ts';

const stores = sharedByTests(startStores);
const minute = (count: number) => new Date(Date.parse(byAlice.now) + count * 60_000).toISOString();

const pcrs = (digit: string) => Object.fromEntries(Array.from({ length: 24 }, (_, index) => [index, digit.repeat(64)]));
const policy: AttestationPolicy = {
  ...strictPolicy,
  platforms: ['snp', 'snp-vtpm'],
  measurements: ['ab'.repeat(48), 'cd'.repeat(48)],
  pcrs: { sha256: pcrs('a') },
  vmpl: 1,
  minimum_tcb: { bootloader: 3, tee: 3, snp: 3, microcode: 3, fmc: 3 },
  accepted_tcb_statuses: ['SWHardeningNeeded', 'UpToDate'],
  accepted_advisories: ['INTEL-SA-00001', 'INTEL-SA-00002'],
};
const review: ResultReview = { reviewers: ['rita', 'rob'], needed: 2 };
const certificates = { cert_file: 'cert', server_ca_file: 'ca', client_ca_file: 'ca' };

/** The members of a computation that an attack changes. */
interface Given {
  fields: Partial<ComputationFields>;
  agent_config: Omit<typeof defaultAgentConfig, 'server_key'> & { server_key: string };
  attestation_policy: AttestationPolicy | null;
  result_review: ResultReview | null;
  consumers: string[];
}

interface Place {
  domain: string;
  id: string;
  /** The identifiers of the assets of the computation by file name. */
  files: Record<string, string>;
  /** The changes of assets that were made, by file name. */
  given: Partial<Record<FileName, FileChange>>;
}

interface Attack {
  name: string;
  /** The member that it changes. Two attacks on one member make no pair. */
  member: string;
  subject: ChangeCard['subject'];
  /** The user who makes it, where only one can. */
  by?: string;
  make: (place: Place, by: string, now: string) => Promise<unknown>;
}

const update =
  (change: (before: Given) => Partial<Given>) =>
  async ({ domain, id }: Place, by: string, now: string) =>
    await updateComputation(stores.table, {
      domain,
      id,
      by,
      now,
      seal: ({ plain }) => Promise.resolve(sealedAs(plain)),
      decide: (row, definition) => {
        const before = { ...definition, agent_config: { ...definition.agent_config, server_key: 'key' }, fields: {} };
        const given = { ...before, ...change(before) };
        return { ...given, fields: { ...fieldsOf(row, row), ...given.fields }, permitted: allowed() };
      },
    });

const aPublicKey = () => generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString();

async function giveKey({ domain, id }: Place, user_id: string, now: string, is_consumer = false): Promise<void> {
  const { spki, fingerprint } = readPublicKey(btoa(aPublicKey()), '/key');
  const key = { user_id, user_key: Buffer.from(spki).toString('base64'), fingerprint, is_consumer, uploaded_at: now };
  await uploadKey(stores.table, domain, id, key);
}

const file = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const, use: 'open' as const };
const fetched = { source: { type: 'https' as const, url: 'https://a.example/x' }, kbs: { url: 'https://kbs.example' } };
const ofFile = {
  'code.py': {
    ...file,
    ...fetched,
    asset_type: 'algorithm' as const,
    algo_type: 'python' as const,
    algo_args: ['-a', '-b'],
    by: 'alice',
  },
  'data.csv': { ...file, ...fetched, asset_type: 'dataset' as const, decompress: false, by: 'dave' },
  'bob.csv': { ...file, asset_type: 'dataset' as const, use: 'approval' as const, asset: btoa('bob'), by: 'bob' },
};
type FileName = keyof typeof ofFile;
const checksum = (digit: string) => digit.repeat(64);

async function addFile(domain: string, file_name: string, { by, ...given }: (typeof ofFile)[FileName]): Promise<string> {
  const hash = 'source' in given ? { checksum: checksum('1') } : {};
  return (await createAsset(stores.table, stores.content, { domain, file_name, ...given, ...hash, by, now: byAlice.now })).id;
}

/** Makes the computation that bob approves: with consumers, or with a review of its results. */
async function approved(domain: string, withReview: boolean): Promise<Place> {
  const { table } = stores;
  const place: Place = { domain, id: await aComputation(table, domain, 'Iris', ['carol', 'cleo']), files: {}, given: {} };
  await registerCvm(table, { by: 'root', domain, cvmId: 'cvm-1', given: await newCvmBody(), now: byAlice.now });
  for (const [name, given] of Object.entries(ofFile)) {
    place.files[name] = await addFile(domain, name, given);
    await linkAsset(table, { domain, computationId: place.id, assetId: place.files[name], ...byAlice, by: given.by });
  }
  for (const user of ['alice', 'bob', 'dave', 'carol', 'cleo', 'rita', 'rob', 'eve', 'olga'])
    await giveKey(place, user, byAlice.now, !['eve', 'olga'].includes(user));
  const agent_config = { ...defaultAgentConfig, ...certificates, server_key: 'key' };
  const given = { fields: { approval: 'all' as const }, agent_config, attestation_policy: policy };
  await update(() => ({ ...given, result_review: withReview ? review : null }))(place, 'alice', byAlice.now);
  await anApproval(stores, domain, place.id, 'bob', { cvm_ids: ['cvm-1'] });
  return place;
}

type Member = [value: unknown, others: Record<string, unknown>];
const without = <T>(list: readonly T[]) => list.slice(1);

/** The ways to change a value of a configuration, by its kind. */
function waysToChange(value: unknown, addition: unknown): Member {
  if (Array.isArray(value))
    return [
      value,
      { grows: [...value, addition].sort(), shrinks: without(value), 'has another': [...without(value), addition].sort() },
    ];
  if (typeof value === 'number') return [value, { rises: value + 1, falls: value - 1 }];
  if (typeof value === 'boolean') return [value, { turns: !value }];
  return [value, { 'is another': addition }];
}

const ofPolicy = Object.entries({
  platforms: waysToChange(policy.platforms, 'tdx'),
  measurements: waysToChange(policy.measurements, 'ef'.repeat(48)),
  vmpl: waysToChange(policy.vmpl, 0),
  accepted_tcb_statuses: waysToChange(policy.accepted_tcb_statuses, 'OutOfDate'),
  accepted_advisories: waysToChange(policy.accepted_advisories, 'INTEL-SA-00003'),
  allow_debug: waysToChange(policy.allow_debug, true),
  allow_reconnect: waysToChange(policy.allow_reconnect, true),
  allow_used_guest: waysToChange(policy.allow_used_guest, true),
  pcrs: [0, { go: null, 'are others': { sha256: pcrs('b') }, 'are fewer': { sha256: { 1: 'a'.repeat(64) } } }] satisfies Member,
  minimum_tcb: [
    0,
    {
      goes: null,
      ...Object.fromEntries(
        Object.keys(policy.minimum_tcb ?? {}).map((part) => [`${part} falls`, { ...policy.minimum_tcb, [part]: 2 }]),
      ),
    },
  ] satisfies Member,
}).flatMap(([member, [, ways]]) =>
  Object.entries(ways).map(([how, value]): Attack => ({
    name: `${member} ${how}`,
    member,
    subject: 'machine',
    make: update(({ attestation_policy }) => ({ attestation_policy: { ...(attestation_policy ?? policy), [member]: value } })),
  })),
);

const ofConfiguration: Attack[] = [
  ...ofPolicy,
  { name: 'the policy goes', member: 'policy', subject: 'machine', make: update(() => ({ attestation_policy: null })) },
  ...Object.keys(certificates).map((name): Attack => ({
    name: `${name} is another`,
    member: name,
    subject: 'agent',
    make: update(({ agent_config }) => ({ agent_config: { ...agent_config, [name]: 'other' } })),
  })),
  {
    name: 'attested_tls turns',
    member: 'attested_tls',
    subject: 'agent',
    make: update(({ agent_config }) => ({ agent_config: { ...agent_config, attested_tls: true } })),
  },
  { name: 'logs are opened', member: 'log_access', subject: 'logs', make: update(() => ({ fields: { log_access: 'parties' } })) },
  {
    name: 'approvals are signed',
    member: 'approval',
    subject: 'approval',
    make: update(() => ({ fields: { approval: 'all_signed' } })),
  },
  { name: 'another name', member: 'name', subject: 'other', make: update(() => ({ fields: { name: 'Iris 2' } })) },
  {
    name: 'another description',
    member: 'description',
    subject: 'other',
    make: update(() => ({ fields: { description: 'Other' } })),
  },
];

type FileChange = { source?: object } & Record<string, unknown>;

const changeFile =
  (name: FileName, change: FileChange, by: string = ofFile[name].by) =>
  async ({ domain, files, given }: Place, _: string, now: string) => {
    const { by: _creator, ...kept } = ofFile[name];
    const hash = 'source' in kept ? { checksum: checksum('1') } : {};
    const before = { file_name: name, ...kept, asset: undefined, ...hash };
    const source = { ...fetched.source, ...given[name]?.source, ...change.source };
    given[name] = { ...given[name], ...change, ...('source' in kept && { source }) };
    const after = { ...before, ...given[name] };
    await updateAsset(stores.table, stores.content, { domain, id: files[name] ?? '', given: after, by, now, permit: allowed });
  };
const ofChange = (member: string, subject: ChangeCard['subject'], name: FileName, change: FileChange): Attack => ({
  name: `${member} of ${name}`,
  member: `${name} ${member}`,
  subject,
  by: ofFile[name].by,
  make: changeFile(name, change),
});

const ofFiles: Attack[] = [
  ...(['code.py', 'data.csv'] as const).flatMap((name) => [
    ofChange('url', 'address', name, { source: { url: 'https://b.example/x' } }),
    ofChange('path of the key', 'address', name, { source: { kbs_resource_path: 'a/b/c' } }),
    ofChange('key broker', 'address', name, { kbs: { url: 'https://evil.example' } }),
    ofChange('no key broker', 'address', name, { kbs: null }),
    ofChange('checksum', name === 'code.py' ? 'code' : 'data', name, { checksum: checksum('2') }),
    ofChange('key', 'key', name, { user_key: btoa(aPublicKey()) }),
  ]),
  ofChange('unpacking', 'data', 'data.csv', { decompress: true }),
  ofChange('type', 'code', 'code.py', { algo_type: 'bin' }),
  ofChange('arguments', 'code', 'code.py', { algo_args: ['-a', '-c'] }),
  {
    name: 'a file has another name',
    member: 'data.csv name',
    subject: 'data',
    by: 'root',
    make: changeFile('data.csv', { file_name: 'other.csv' }, 'root'),
  },
  {
    name: 'a file goes',
    member: 'data.csv name',
    subject: 'data',
    make: async ({ domain, id, files }, by, now) =>
      await unlinkAsset(stores.table, { domain, computationId: id, assetId: files['data.csv'] ?? '', ...byAlice, by, now }),
  },
  {
    name: 'a file comes',
    member: 'a new file',
    subject: 'data',
    make: async ({ domain, id }, by, now) => {
      const assetId = await addFile(domain, 'new.csv', ofFile['data.csv']);
      await linkAsset(stores.table, { domain, computationId: id, assetId, ...byAlice, by, now });
    },
  },
  {
    name: 'another algorithm',
    member: 'code.py',
    subject: 'code',
    make: async ({ domain, id, files }, by, now) => {
      const link = { domain, computationId: id, ...byAlice, by, now };
      await unlinkAsset(stores.table, { ...link, assetId: files['code.py'] ?? '' });
      const { source: _source, kbs: _kbs, algo_type: _type, algo_args: _args, ...plain } = ofFile['code.py'];
      const given = { ...plain, domain, file_name: 'evil.py', asset: btoa('evil'), now };
      await linkAsset(stores.table, { ...link, assetId: (await createAsset(stores.table, stores.content, given)).id });
    },
  },
];

const ofOthers: Attack[] = [
  {
    name: 'another certificate',
    member: 'certificate',
    subject: 'machine',
    make: async ({ domain }, by, now) =>
      await registerCvm(stores.table, { by, domain, cvmId: 'cvm-1', given: await newCvmBody(), now }),
  },
  {
    name: 'the key of bob',
    member: 'key of bob',
    subject: 'key',
    by: 'bob',
    make: (place, _, now) => giveKey(place, 'bob', now, true),
  },
];

const ofReceivers: Attack[] = [
  {
    name: 'a receiver comes',
    member: 'consumers',
    subject: 'receiver',
    make: update(({ consumers }) => ({ consumers: [...consumers, 'eve'] })),
  },
  { name: 'a receiver goes', member: 'consumers', subject: 'receiver', make: update(() => ({ consumers: ['carol'] })) },
  { name: 'another receiver', member: 'consumers', subject: 'receiver', make: update(() => ({ consumers: ['carol', 'eve'] })) },
  { name: 'another owner', member: 'owner', subject: 'receiver', make: update(() => ({ fields: { owner: 'olga' } })) },
];

const withoutReview: Attack[] = [
  ...ofReceivers,
  {
    name: 'the key of carol',
    member: 'key of carol',
    subject: 'key',
    by: 'carol',
    make: (place, _, now) => giveKey(place, 'carol', now, true),
  },
];

const ofReview = (name: string, change: Partial<ResultReview>, member = name): Attack => ({
  name: `review: ${name}`,
  member: `review ${member}`,
  subject: 'receiver',
  make: update(({ result_review }) => ({ result_review: { ...(result_review ?? review), ...change } })),
});
const withReview: Attack[] = [
  ...ofReceivers,
  ofReview('fewer releases', { needed: 1 }),
  ofReview('a reviewer comes', { reviewers: ['rita', 'rob', 'eve'] }, 'reviewers'),
  ofReview('another reviewer', { reviewers: ['rita', 'eve'] }, 'reviewers'),
  { name: 'the review goes', member: 'review', subject: 'receiver', make: update(() => ({ result_review: null })) },
];

const everywhere = [...ofConfiguration, ...ofFiles, ...ofOthers];
const attacks = { false: [...everywhere, ...withoutReview], true: [...everywhere, ...withReview] };

/** Tells whether one attack undoes or contains what the other changes. */
const isOne = (one: Attack, other: Attack): boolean => {
  const [a, b] = [one, other].map(({ member }) => member.replace('no key broker', 'key broker')) as [string, string];
  // Of a source, the last change counts, whichever part it is of. A path without a broker is refused.
  const [part, otherPart] = [one, other].map(({ name }) => /^(url|path of the key|no key broker) of (.*)/.exec(name));
  if (part && part[1] !== otherPart?.[1] && part[2] === otherPart?.[2]) return true;
  const isWithin = (whole: string, part: string) =>
    (whole === 'policy' && ofPolicy.some(({ member }) => member === part)) ||
    (whole === 'review' && part.startsWith('review ')) ||
    (whole === 'code.py' && part.startsWith('code.py ')) ||
    (whole === 'data.csv name' && part.startsWith('data.csv '));
  return a === b || isWithin(a, b) || isWithin(b, a);
};

let domains = 0;
/** The members of what an approval covers that the attacks have changed. */
const changed = new Set<string>();
const memberOf = (path: string) => path.replaceAll(/\/\d+/g, '/0');

/** Makes attacks, one after the other by another user, and returns what is not named by subject, author and time, or in another order. */
async function faultsOf(chosen: readonly Attack[], withReview: boolean): Promise<string[]> {
  const domain = `attacked-${++domains}`;
  const place = await approved(domain, withReview);
  const made = chosen.map((attack, index) => ({
    ...attack,
    by: attack.by ?? ['mallory', 'trudy'][index] ?? '',
    at: minute(index + 1),
  }));
  for (const { make, by, at } of made) await make(place, by, at);
  const { approvals } = await listApprovals(stores.table, domain, place.id, minute(10));
  const approval = approvals.find(({ user }) => user === 'bob');
  for (const { path } of approval?.stale_because ?? []) changed.add(memberOf(path));
  const cards = approval ? changeCards(approval, { computation: { parties: [], assets: [] }, events: [] }) : [];
  const told = cards.map(({ subject, by, at, sentence }) => `${subject} by ${by} at ${at}: ${sentence}`);
  const missing = made.filter(
    (attack) =>
      !cards.some(({ subject, by, at, sentence }) => {
        const isNamed = sentence.includes(attack.by);
        return subject === attack.subject && by === attack.by && at === attack.at && isNamed;
      }),
  );
  const firstOther = cards.findIndex(({ subject }) => subject !== 'receiver' && subject !== 'other');
  const lastReceiver = cards.findLastIndex(({ subject }) => subject === 'receiver');
  const isOrdered = firstOther === -1 || lastReceiver < firstOther;
  return [
    ...missing.map(
      ({ name }) => `${chosen.map((each) => each.name).join(' + ')}: ${name} is not named in\n  ${told.join('\n  ')}`,
    ),
    ...(isOrdered ? [] : [`${chosen.map(({ name }) => name).join(' + ')}: a receiver is behind others`]),
  ];
}

/** Returns all pairs of attacks, in both orders: the later change of two is the newer one. */
const pairsOf = (of: readonly Attack[]) => of.flatMap((one) => of.flatMap((other) => (isOne(one, other) ? [] : [[one, other]])));
const isFull = amount({ sample: false, full: true });
const sample = <T>(of: T[], count: number) =>
  amount({ sample: shuffled(of, seededRandom(sampleSeed)).slice(0, count), full: of });

describe.each([false, true])('each attack on a consent (with a review: %s)', (withReview) => {
  const all = attacks[`${withReview}`];

  it(`is named by subject, author and time, receivers first (TEST_SEED=${sampleSeed})`, { timeout: 600_000 }, async () => {
    const faults: string[] = [];
    for (const attack of sample(all, 4)) faults.push(...(await faultsOf([attack], withReview)));
    expect(faults).toEqual([]);
    const members = changesOfEachField().flatMap(({ changes }) => changes.map(({ path }) => memberOf(path)));
    const missed = withReview && isFull ? members.filter((member) => member !== '/manifest/id' && !changed.has(member)) : [];
    expect([...new Set(missed)]).toEqual([]);
  });

  it(`is named in a pair with another too (TEST_SEED=${sampleSeed})`, { timeout: 3_600_000 }, async () => {
    const faults: string[] = [];
    for (const pair of sample(pairsOf(all), 3)) faults.push(...(await faultsOf(pair, withReview)));
    expect(faults).toEqual([]);
  });
});
