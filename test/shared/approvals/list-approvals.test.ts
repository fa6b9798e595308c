import { generateKeyPairSync } from 'node:crypto';
import type { AttestationPolicy } from 'computation-management-formats/attestation';
import type { ResultReview } from 'computation-management-formats/consent';
import { describe, expect, it } from 'vitest';
import { withdrawApproval, refuse } from '../../../shared/approvals/approve.ts';
import { listApprovals } from '../../../shared/approvals/list-approvals.ts';
import { linkAsset, unlinkAsset } from '../../../shared/assets/link-asset.ts';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { readHead } from '../../../shared/journal/journal.ts';
import { removeKey, uploadKey } from '../../../shared/keys/participant-keys.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { fieldsOf, type Party } from '../../../shared/rows/computation.ts';
import { readDefinition, partiesOf } from '../../../shared/rows/definition.ts';
import { readComputation } from '../../../shared/rows/computation.ts';
import { approvedKeys, computationKeys } from '../../../shared/table/keys.ts';
import { getItems } from '../../../shared/table/table.ts';
import { putItems } from '../../../shared/table/writes.ts';
import { anEvent, appendToJournal } from '../../support/append-to-journal.ts';
import {
  allowed,
  anApproval,
  anAsset,
  aSharedComputation,
  byAlice,
  digestsOf,
  noKey,
  startStores,
} from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { strictPolicy } from '../../support/strict-policy.ts';

const stores = sharedByTests(startStores);

let domains = 0;
const newDomain = () => `d${++domains}`;
const start = Date.parse(byAlice.now);
/** The time of the n-th minute of a test. */
const minute = (count: number) => new Date(start + count * 60_000).toISOString();

interface Change {
  name?: string;
  owner?: string;
  approval?: 'none' | 'all' | 'all_signed';
  consumers?: string[];
  attested_tls?: boolean;
  attestation_policy?: AttestationPolicy;
  result_review?: ResultReview | null;
}

async function update(domain: string, id: string, by: string, now: string, change: Change): Promise<void> {
  const { consumers, attested_tls, attestation_policy, result_review, ...fields } = change;
  await updateComputation(stores.table, {
    domain,
    id,
    by,
    now,
    seal: noKey,
    decide: (row, definition) => ({
      fields: { ...fieldsOf(row, row), ...fields },
      agent_config: { ...defaultAgentConfig, attested_tls: attested_tls ?? definition.agent_config.attested_tls },
      attestation_policy: attestation_policy ?? definition.attestation_policy,
      result_review: result_review === undefined ? definition.result_review : result_review,
      consumers: consumers ?? definition.consumers,
      providers: definition.providers,
      permitted: allowed(),
    }),
  });
}

async function upload(domain: string, id: string, user_id: string, uploaded_at: string, is_consumer = false): Promise<string> {
  const user_key = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  await uploadKey(stores.table, domain, id, { user_id, user_key, fingerprint: '', is_consumer, uploaded_at });
  return user_key;
}

async function reasons(domain: string, id: string, user = 'bob', at = minute(100)) {
  const { approvals } = await listApprovals(stores.table, domain, id, at);
  return approvals.find((given) => given.user === user)?.stale_because;
}

const receiver = (index: number) => `/manifest/result_consumers/${index}/user_key`;

describe('the reasons why an approval does not count', () => {
  it('name a receiver in place of another by user, with who let which of them receive the results, and when', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await update(domain, id, 'alice', minute(1), { consumers: ['dave'] });
    const ofDave = await upload(domain, id, 'dave', minute(2));
    await anApproval(stores, domain, id);
    expect(await reasons(domain, id)).toBeNull();

    await update(domain, id, 'erin', minute(3), { consumers: ['carol'] });
    const ofCarol = await upload(domain, id, 'carol', minute(4));
    const byErin = { by: 'erin', at: minute(3) };
    expect(await reasons(domain, id)).toEqual([
      { path: receiver(1), approved: null, current: ofCarol, user: 'carol', ...byErin },
      { path: receiver(1), approved: ofDave, current: null, user: 'dave', ...byErin },
    ]);

    await update(domain, id, 'alice', minute(5), { consumers: ['carol', 'frank'] });
    await upload(domain, id, 'frank', minute(6));
    const added = [
      { user: 'carol', ...byErin },
      { user: 'frank', by: 'alice', at: minute(5) },
    ];
    expect((await reasons(domain, id))?.slice(0, 2)).toMatchObject(added);
    await update(domain, id, 'erin', minute(7), { consumers: ['frank', 'carol'] });
    await update(domain, id, 'erin', minute(8), { consumers: ['frank', 'carol', 'gina'] });
    expect(await reasons(domain, id)).toMatchObject([...added, { user: 'dave', ...byErin }]);
  });

  it('name who uploaded or removed the key of a receiver who might receive the results before', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    const before = await upload(domain, id, 'dave', minute(1), true);
    await anApproval(stores, domain, id);
    const after = await upload(domain, id, 'dave', minute(2), true);
    const ofCarol = await upload(domain, id, 'carol', minute(3), true);
    const byCarol = { path: receiver(2), approved: null, current: ofCarol, user: 'carol', by: 'carol', at: minute(3) };
    const replaced = { path: receiver(1), approved: before, current: after, user: 'dave', by: 'dave', at: minute(2) };
    expect(await reasons(domain, id)).toEqual([replaced, byCarol]);
    await removeKey(stores.table, { domain, computationId: id, user: 'dave', by: 'alice', now: minute(4), permitOther: allowed });
    const removed = { path: receiver(1), approved: before, current: null, user: 'dave', by: 'alice', at: minute(4) };
    expect(await reasons(domain, id)).toEqual([{ ...byCarol, path: receiver(1) }, removed]);
  });

  it('name the other owner, and who made that user the owner', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await upload(domain, id, 'dave', minute(1));
    await anApproval(stores, domain, id);
    await update(domain, id, 'root', minute(2), { owner: 'dave' });
    const byRoot = { by: 'root', at: minute(2) };
    expect(await reasons(domain, id)).toMatchObject([
      { user: 'dave', approved: null, ...byRoot },
      { user: 'alice', current: null, ...byRoot },
    ]);
  });

  it('name the creators of files, with who linked or changed them, and when', async () => {
    const domain = newDomain();
    const { id, dataset } = await aSharedComputation(stores, domain);
    await update(domain, id, 'alice', minute(1), { approval: 'all' });
    await anApproval(stores, domain, id, 'alice');
    const ofAlice = () => reasons(domain, id, 'alice');

    const given = { file_name: 'iris.csv', asset_type: 'dataset' as const, description: '', mime_type: '', asset: btoa('other') };
    const byBob = { ...byAlice, by: 'bob' };
    await updateAsset(stores.table, stores.content, { domain, id: dataset, given, ...byBob, now: minute(2) });
    const inPlace = { path: '/manifest/datasets/0/hash', user: 'bob', by: 'bob', at: minute(2) };
    const described = { ...given, description: 'A note', asset: undefined };
    await updateAsset(stores.table, stores.content, { domain, id: dataset, given: described, ...byBob, now: minute(2.5) });
    expect(await ofAlice()).toMatchObject([inPlace]);
    await upload(domain, id, 'bob', minute(3));
    const ofKey = { path: '/manifest/datasets/0/user_key', user: 'bob', by: 'bob', at: minute(3) };
    expect(await ofAlice()).toMatchObject([inPlace, ofKey]);

    const link = { domain, computationId: id, ...byAlice };
    await unlinkAsset(stores.table, { ...link, assetId: dataset, now: minute(4) });
    expect(await ofAlice()).toMatchObject([
      { ...inPlace, current: null, by: 'alice', at: minute(4) },
      { ...ofKey, current: null, by: 'alice', at: minute(4) },
      { path: '/manifest/datasets/0/filename', approved: 'iris.csv', current: null, user: 'bob', by: 'alice', at: minute(4) },
    ]);
    const foreign = await anAsset(stores, domain, { file_name: 'iris.csv', asset_type: 'dataset', asset: btoa('mine') });
    await linkAsset(stores.table, { ...link, assetId: foreign, by: 'erin', now: minute(5) });
    expect((await ofAlice())?.map(({ user, by, at }) => ({ user, by, at }))).toEqual(
      Array(2).fill({ user: 'alice', by: 'erin', at: minute(5) }),
    );
    const renamed = { ...given, file_name: 'other.csv', asset: undefined };
    await updateAsset(stores.table, stores.content, { domain, id: foreign, given: renamed, ...byAlice, now: minute(6) });
    expect((await ofAlice())?.at(-1)).toMatchObject({ current: 'other.csv', user: 'alice', by: 'erin', at: minute(5) });
  });

  it('name who unlinked a file, not who linked and unlinked another of its name', async () => {
    const domain = newDomain();
    const { id, dataset } = await aSharedComputation(stores, domain);
    await anApproval(stores, domain, id);
    const link = { domain, computationId: id, ...byAlice };
    const namesake = await anAsset(stores, domain, { file_name: 'iris.csv', asset_type: 'dataset', asset: btoa('mine') });
    await unlinkAsset(stores.table, { ...link, assetId: dataset, by: 'mallory', now: minute(1) });
    await linkAsset(stores.table, { ...link, assetId: namesake, by: 'bob', now: minute(2) });
    await unlinkAsset(stores.table, { ...link, assetId: namesake, by: 'bob', now: minute(3) });
    const removed = (await reasons(domain, id))?.filter(({ path }) => path.startsWith('/manifest/datasets'));
    expect(removed?.length).toBeGreaterThan(0);
    for (const each of removed ?? []) expect(each).toMatchObject({ current: null, by: 'mallory', at: minute(1) });
  });

  it('name who linked a file under the name of another that was renamed', async () => {
    const domain = newDomain();
    const { id, dataset } = await aSharedComputation(stores, domain);
    await anApproval(stores, domain, id);
    const given = { file_name: 'away.csv', asset_type: 'dataset' as const, description: '', mime_type: '' };
    await updateAsset(stores.table, stores.content, { domain, id: dataset, given, ...byAlice, by: 'root', now: minute(1) });
    const other = await anAsset(stores, domain, { file_name: 'iris.csv', asset_type: 'dataset', asset: btoa('mine') });
    await linkAsset(stores.table, { domain, computationId: id, ...byAlice, assetId: other, by: 'root', now: minute(2) });
    const replaced = (await reasons(domain, id))?.find(({ path, approved }) => path.endsWith('/hash') && approved !== null);
    expect(replaced).toMatchObject({ user: 'alice', by: 'root', at: minute(2) });
  });

  it('name who renamed a file: its creator or an administrator', async () => {
    const domain = newDomain();
    const { id, dataset } = await aSharedComputation(stores, domain);
    await anApproval(stores, domain, id);
    const given = { file_name: 'new.csv', asset_type: 'dataset' as const, description: '', mime_type: '' };
    await updateAsset(stores.table, stores.content, { domain, id: dataset, given, ...byAlice, by: 'root', now: minute(2) });
    const names = (await reasons(domain, id))?.filter(({ path }) => path.endsWith('/filename'));
    const atTwo = { user: 'bob', by: 'root', at: minute(2) };
    expect(names).toMatchObject([
      { approved: 'iris.csv', current: null, ...atTwo },
      { approved: null, current: 'new.csv', ...atTwo },
    ]);
  });

  it('name the approver for the approval itself, and who raised what it takes', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await anApproval(stores, domain, id, 'bob', { expires_at: minute(5) });
    await update(domain, id, 'alice', minute(1), { approval: 'all_signed' });
    const byAliceAt = { by: 'alice', at: minute(1) };
    expect(await reasons(domain, id)).toEqual([
      { path: '/configuration/approval', approved: 'none', current: 'all_signed', user: null, ...byAliceAt },
      { path: '/signature', approved: null, current: 'required', user: 'bob', ...byAliceAt },
      { path: '/expires_at', approved: minute(5), current: minute(100), user: 'bob', by: null, at: minute(5) },
    ]);
  });

  it('name authors whatever else is in the journal, also in its index', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await anApproval(stores, domain, id);
    await update(domain, id, 'alice', minute(1), { consumers: ['carol'] });
    await upload(domain, id, 'carol', minute(2));
    await update(domain, id, 'erin', minute(3), { name: 'Iris 2' });
    const events = Array.from({ length: 100 }, () => anEvent());
    for (let part = 0; part < 6; part++) await appendToJournal(stores.table, id, events);
    expect((await readHead(stores.table, id)).sealed).toBeGreaterThan(100);
    expect((await reasons(domain, id))?.map(({ user, by, at }) => [user, by, at])).toEqual([
      ['carol', 'alice', minute(1)],
      [null, 'erin', minute(3)],
    ]);
  });

  it('name who changed which part of the review, and whom it is about', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await update(domain, id, 'alice', minute(1), { consumers: ['carol'], result_review: { reviewers: ['rita'], needed: 1 } });
    const keyOfRita = await upload(domain, id, 'rita', minute(2));
    await anApproval(stores, domain, id, 'bob');
    const result_review = { reviewers: ['rita', 'ruth', 'rob'], needed: 1 };
    await update(domain, id, 'dave', minute(3), { result_review });
    await update(domain, id, 'erin', minute(4), { consumers: ['aron', 'carol'], result_review: { ...result_review, needed: 2 } });
    const keyOfRuth = await upload(domain, id, 'ruth', minute(5));
    const ofReview = '/configuration/result_review';
    const byDave = { by: 'dave', at: minute(3) };
    const byErin = { by: 'erin', at: minute(4) };
    expect(await reasons(domain, id)).toEqual([
      { path: '/manifest/result_consumers/1/user_key', approved: null, current: keyOfRuth, user: 'ruth', ...byDave },
      { path: `${ofReview}/consumers/1`, approved: null, current: 'aron', user: 'aron', ...byErin },
      { path: `${ofReview}/reviewers/1`, approved: null, current: 'ruth', user: 'ruth', ...byDave },
      { path: `${ofReview}/reviewers/2`, approved: null, current: 'rob', user: 'rob', ...byDave },
      { path: `${ofReview}/needed`, approved: 1, current: 2, user: null, ...byErin },
    ]);

    await update(domain, id, 'erin', minute(6), { result_review: null });
    const removed = { by: 'erin', at: minute(6) };
    const found = await reasons(domain, id);
    const fetched = '/manifest/result_consumers/0/user_key';
    expect(found).toContainEqual(expect.objectContaining({ path: fetched, approved: null, user: 'alice', ...removed }));
    expect(found).toContainEqual({ path: fetched, approved: keyOfRita, current: null, user: 'rita', ...removed });
    for (const [list, user] of [
      ['reviewers/0', 'rita'],
      ['consumers/1', 'carol'],
    ]) {
      expect(found).toContainEqual({ path: `${ofReview}/${list}`, approved: user, current: null, user, ...removed });
    }
  });

  it('name who changed which member of the policy', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await anApproval(stores, domain, id);
    await update(domain, id, 'alice', minute(1), { attestation_policy: strictPolicy });
    await update(domain, id, 'erin', minute(2), { attestation_policy: { ...strictPolicy, allow_debug: true } });
    const found = new Map((await reasons(domain, id))?.map(({ path, by, at }) => [path.split('/')[3], { by, at }]));
    expect(found.get('allow_debug')).toEqual({ by: 'erin', at: minute(2) });
    expect(found.get('platforms')).toEqual({ by: 'alice', at: minute(1) });
  });
});

describe('a refusal', () => {
  const aRefusal = (domain: string, id: string, reason: string, by = 'bob') =>
    refuse(stores.table, {
      domain,
      computationId: id,
      given: { decision: 'refuse', reason },
      by,
      now: minute(1),
      permit: allowed,
    });

  it('and an approval replace each other, and one withdrawal removes either', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    const decisions = async () => {
      const { approvals, refusals } = await listApprovals(stores.table, domain, id, minute(2));
      return [approvals.map(({ user }) => user), refusals.map(({ user, reason }) => `${user}: ${reason}`)];
    };
    const count = async () => (await readComputation(stores.table, domain, id)).refusal_count;
    const events = async () => (await readHead(stores.table, id)).count;
    await anApproval(stores, domain, id);
    await aRefusal(domain, id, 'No.');
    expect([await decisions(), await count()]).toEqual([[[], ['bob: No.']], 1]);
    expect(await getItems(stores.table, [approvedKeys.approved(id, 'bob')])).toEqual([undefined]);
    await aRefusal(domain, id, 'Still no.');
    const written = await events();
    await aRefusal(domain, id, 'Still no.');
    expect([await decisions(), await count(), await events()]).toEqual([[[], ['bob: Still no.']], 1, written]);

    await anApproval(stores, domain, id);
    expect([await decisions(), await count()]).toEqual([[['bob'], []], 0]);
    const withdraw = { domain, computationId: id, by: 'bob', now: minute(2) };
    await aRefusal(domain, id, 'No.');
    await withdrawApproval(stores.table, withdraw);
    expect([await decisions(), await count()]).toEqual([[[], []], 0]);
    const before = await events();
    await withdrawApproval(stores.table, withdraw);
    expect(await events()).toBe(before);
    expect(await getItems(stores.table, [computationKeys.refusal(id, 'bob')])).toEqual([undefined]);
  });

  it('needs no manifest, and stays when the key of its user is removed', async () => {
    const domain = newDomain();
    const { id, algorithm } = await aSharedComputation(stores, domain);
    await unlinkAsset(stores.table, { domain, computationId: id, assetId: algorithm, ...byAlice });
    await aRefusal(domain, id, 'No algorithm yet.');
    await removeKey(stores.table, { domain, computationId: id, user: 'bob', by: 'alice', now: minute(2), permitOther: allowed });
    const { refusals } = await listApprovals(stores.table, domain, id, minute(3));
    expect(refusals).toEqual([{ user: 'bob', reason: 'No algorithm yet.', refused_at: minute(1) }]);
    await expect(digestsOf(stores, domain, id)).rejects.toThrow();
  });
});

describe('partiesOf', () => {
  it('names owner, providers and consumers, and says who has not acted', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    const parties = async (): Promise<Party[]> =>
      partiesOf(await readComputation(stores.table, domain, id), await readDefinition(stores.table, id));
    const alice: Party = { user: 'alice', parts: ['owner', 'provider', 'consumer'], invited: false };
    const bob: Party = { user: 'bob', parts: ['provider'], invited: false };
    expect(await parties()).toEqual([alice, bob]);
    await upload(domain, id, 'carol', minute(1), true);
    const carol: Party = { user: 'carol', parts: ['consumer'], invited: false };
    expect(await parties()).toEqual([alice, bob, carol]);
    await update(domain, id, 'alice', minute(2), { consumers: ['dave', 'bob'] });
    const dave: Party = { user: 'dave', parts: ['consumer'], invited: true };
    expect(await parties()).toEqual([alice, { ...bob, parts: ['provider', 'consumer'] }, dave]);
    await refuse(stores.table, {
      domain,
      computationId: id,
      given: { decision: 'refuse', reason: 'No.' },
      by: 'dave',
      now: minute(3),
      permit: allowed,
    });
    expect((await parties()).at(-1)).toEqual({ ...dave, invited: false });
    await update(domain, id, 'alice', minute(4), { consumers: [] });
    const key = { is_consumer: true, user_key: 'x'.repeat(10_000) };
    const keys = Array.from({ length: 600 }, (_, index) => ({
      ...computationKeys.userKey(id, `x${index}`),
      user_id: `x${index}`,
      ...key,
    }));
    await putItems(stores.table, keys);
    expect((await parties()).filter(({ user }) => user.startsWith('x')).length).toBeLessThan(500);
    await upload(domain, id, 'zoe', minute(5));
    await update(domain, id, 'alice', minute(6), { consumers: ['zoe', 'zack'] });
    expect((await parties()).slice(-2)).toMatchObject([
      { user: 'zoe', invited: false },
      { user: 'zack', invited: true },
    ]);
  });
});
