import { numberOf } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { receiveUpload } from '../../../shared/assets/uploads.ts';
import { uploadKey as storageKeyOf } from '../../../shared/rows/content-store.ts';
import { withdrawApproval, refuse } from '../../../shared/approvals/approve.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { fieldsOf } from '../../../shared/rows/computation.ts';
import { createComputation } from '../../../shared/computations/create-computation.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { linkAsset, unlinkAsset } from '../../../shared/assets/link-asset.ts';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { listKeys, lists, mailKeys, todoKeys } from '../../../shared/table/keys.ts';
import { deleteItems, putItem } from '../../../shared/table/writes.ts';
import { followTodo, recheckTodo } from '../../../shared/todo/follow-changes.ts';
import { readTodo } from '../../../shared/todo/read-todo.ts';
import { decideResult } from '../../../shared/results/decide-result.ts';
import { hashOfUser, openList, rowLists } from '../../../shared/table/row-lists.ts';
import { streamOf } from '../../support/table-stream.ts';
import {
  aComputation,
  aDatasetOfBob,
  aKey,
  aReviewedRun,
  allowed,
  anApproval,
  aReadyComputation,
  aSharedComputation,
  byAlice,
  computationFields,
  digestsOf,
  noKey,
  startStores,
} from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { getItem, queryPartition } from '../../../shared/table/table.ts';

const stores = sharedByTests(startStores);

let domains = 0;
const newDomain = () => `d${++domains}`;
const stream = sharedByTests(() => Promise.resolve({ ...streamOf(stores.table), stop: () => Promise.resolve() }));
let following: Promise<unknown> = Promise.resolve();
/** Reads the open tasks after what has changed was followed. */
async function todoOf(domain: string, user: string, now: string = byAlice.now) {
  following = following.then(() => followTodo(stores.table, stream.take(), now));
  await following;
  return await readTodo(stores.table, domain, user, now);
}
const aPublicKey = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=';
const others = { reviews: 0, refusals: 0, invitations: 0 };
const none = { approvals: 0, keys: 0, content: 0, ...others };
const empty = { reviews: [], refusals: [], invitations: [] };
const nothing = { approvals: [], keys: [], content: [], ...empty, totals: none, as_of: expect.any(String) };

function update(
  domain: string,
  id: string,
  change: {
    owner?: string;
    approval?: 'none' | 'all' | 'all_signed';
    consumers?: string[];
    providers?: string[];
    reviewers?: string[];
  },
) {
  const { consumers = [], providers = [], reviewers, ...fields } = change;
  return updateComputation(stores.table, {
    domain,
    seal: noKey,
    id,
    by: 'alice',
    now: byAlice.now,
    decide: (row) => ({
      fields: { ...fieldsOf(row, row), ...fields },
      agent_config: defaultAgentConfig,
      attestation_policy: null,
      result_review: reviewers ? { reviewers, needed: 1 } : null,
      consumers,
      providers,
      permitted: allowed(),
    }),
  });
}

/** Creates a computation as its owner. */
async function create(domain: string, owner: string, index: number, providers: string[] = []): Promise<string> {
  const given = {
    domain,
    fields: computationFields({ name: `computation ${index}`, owner }),
    agent_config: defaultAgentConfig,
    seal: noKey,
    attestation_policy: null,
    result_review: null,
    consumers: [],
    providers,
    by: owner,
    now: byAlice.now,
  };
  return (await createComputation(stores.table, given)).row.id;
}

describe('readTodo', () => {
  const aRefusal = (domain: string, id: string, by: string, reason = 'Not yet.') =>
    refuse(stores.table, {
      domain,
      computationId: id,
      given: { decision: 'refuse', reason },
      by,
      now: byAlice.now,
      permit: allowed,
    });

  it('is empty for a user who takes part in nothing', async () => {
    expect(await todoOf(newDomain(), 'nobody')).toEqual(nothing);
  });

  it('names an approval while it is needed, can be given, and does not count', async () => {
    const domain = newDomain();
    const { id, dataset } = await aSharedComputation(stores, domain);
    const open = async () => ({
      computation_id: id,
      name: 'Iris',
      because: ['iris.csv'],
      manifest_digest: (await digestsOf(stores, domain, id)).digest,
    });
    const approvals = async () => (await todoOf(domain, 'bob')).approvals;
    expect(await approvals()).toEqual([await open()]);
    expect((await todoOf(domain, 'alice')).approvals).toEqual([]);

    await anApproval(stores, domain, id);
    expect(await todoOf(domain, 'bob')).toEqual(nothing);
    const other = await aDatasetOfBob(stores, domain, 'other.csv', 'open');
    await linkAsset(stores.table, { domain, assetId: other, computationId: id, ...byAlice });
    expect(await approvals()).toEqual([await open()]);
    await unlinkAsset(stores.table, { domain, assetId: other, computationId: id, ...byAlice });
    expect(await approvals()).toEqual([]);
    await withdrawApproval(stores.table, { domain, computationId: id, by: 'bob', now: byAlice.now });
    expect(await approvals()).toEqual([await open()]);

    const given = { file_name: 'iris.csv', asset_type: 'dataset' as const, description: '', mime_type: '', use: 'open' as const };
    await updateAsset(stores.table, stores.content, { domain, id: dataset, given, ...byAlice, by: 'bob' });
    expect(await todoOf(domain, 'bob')).toEqual(nothing);
    await update(domain, id, { approval: 'all' });
    expect(await approvals()).toEqual([await open()]);
    expect((await todoOf(domain, 'alice')).approvals).toMatchObject([{ because: ['algorithm.py', 'result consumer'] }]);
  });

  it('names no approval while something of the manifest is missing', async () => {
    const domain = newDomain();
    const { id, algorithm } = await aSharedComputation(stores, domain);
    await unlinkAsset(stores.table, { domain, assetId: algorithm, computationId: id, ...byAlice });
    expect(await todoOf(domain, 'bob')).toEqual(nothing);
  });

  it('names a computation that needs a key of its owner, a provider, a named consumer who has acted, or one who has to sign', async () => {
    const domain = newDomain();
    const id = await aComputation(stores.table, domain);
    const open = [{ computation_id: id, name: 'Iris' }];
    const keys = async (user: string) => (await todoOf(domain, user)).keys;
    expect(await keys('alice')).toEqual(open);
    await aKey(stores.table, domain, id);
    expect(await keys('alice')).toEqual([]);

    const dataset = await aDatasetOfBob(stores, domain, 'a.csv', 'open');
    await linkAsset(stores.table, { domain, assetId: dataset, computationId: id, ...byAlice });
    await update(domain, id, { consumers: ['carol'] });
    expect([await keys('bob'), await keys('carol')]).toEqual([open, []]);
    await aRefusal(domain, id, 'carol');
    expect(await keys('carol')).toEqual(open);
    await withdrawApproval(stores.table, { domain, computationId: id, by: 'carol', now: byAlice.now });
    await update(domain, id, { consumers: ['bob', 'carol'] });
    expect(await todoOf(domain, 'bob')).toMatchObject({ keys: open, invitations: [{ expected: ['provider', 'consumer'] }] });
    await update(domain, id, { consumers: [] });
    expect(await keys('carol')).toEqual([]);
    await update(domain, id, { consumers: ['carol'], approval: 'all' });
    await aKey(stores.table, domain, id, 'carol');
    expect(await keys('carol')).toEqual([]);
    await update(domain, id, { consumers: [], approval: 'none' });
    const given = { file_name: 'a.csv', asset_type: 'dataset' as const, description: '', mime_type: '', user_key: aPublicKey };
    await updateAsset(stores.table, stores.content, { domain, id: dataset, given, ...byAlice, by: 'bob' });
    expect(await keys('bob')).toEqual([]);
    await update(domain, id, { approval: 'all_signed' });
    expect(await keys('bob')).toEqual(open);
  });

  it('names an approval that takes a signature only after the key that signs it is there', async () => {
    const domain = newDomain();
    const { id } = await aReadyComputation(stores, domain);
    const computation_id = id;
    const dataset = await aDatasetOfBob(stores, domain, 'iris.csv');
    const given = { file_name: 'iris.csv', asset_type: 'dataset' as const, description: '', mime_type: '', user_key: aPublicKey };
    await updateAsset(stores.table, stores.content, { domain, id: dataset, given, ...byAlice, by: 'bob' });
    await linkAsset(stores.table, { domain, assetId: dataset, computationId: id, ...byAlice });
    expect(await todoOf(domain, 'bob')).toMatchObject({ approvals: [{ computation_id }], keys: [] });
    await update(domain, id, { approval: 'all_signed' });
    expect(await todoOf(domain, 'bob')).toMatchObject({ approvals: [], keys: [{ computation_id }] });
    await aKey(stores.table, domain, id, 'bob');
    expect(await todoOf(domain, 'bob')).toMatchObject({ approvals: [{ computation_id }], keys: [] });
  });

  it('tells the owner of the refusal of a user whose approval is needed, until the user decides again', async () => {
    const domain = newDomain();
    const { id, dataset } = await aSharedComputation(stores, domain);
    await aKey(stores.table, domain, id, 'carol');
    await aRefusal(domain, id, 'carol');
    expect((await todoOf(domain, 'alice')).refusals).toEqual([]);
    await aRefusal(domain, id, 'bob');
    const refusal = { computation_id: id, name: 'Iris', user: 'bob', reason: 'Not yet.', refused_at: byAlice.now };
    expect(await todoOf(domain, 'alice')).toMatchObject({ refusals: [refusal], totals: { refusals: 1 } });
    expect(await todoOf(domain, 'bob')).toEqual(nothing);

    await update(domain, id, { approval: 'all' });
    expect((await todoOf(domain, 'alice')).refusals).toEqual([refusal]);
    expect((await todoOf(domain, 'bob')).approvals).toMatchObject([{ computation_id: id }]);
    await update(domain, id, { owner: 'dave' });
    expect([(await todoOf(domain, 'alice')).refusals, (await todoOf(domain, 'dave')).refusals]).toEqual([[], [refusal]]);
    await withdrawApproval(stores.table, { domain, computationId: id, by: 'bob', now: byAlice.now });
    expect((await todoOf(domain, 'dave')).refusals).toEqual([]);
    await aRefusal(domain, id, 'bob');
    await unlinkAsset(stores.table, { domain, assetId: dataset, computationId: id, ...byAlice });
    expect((await todoOf(domain, 'dave')).refusals).toEqual([]);
  });

  it('invites named providers and consumers until they act or refuse, or are not named any more', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await update(domain, id, { providers: ['bob', 'carol', 'dave', 'erin'], consumers: ['carol', 'frank', 'alice'] });
    const invited = async (user: string) => (await todoOf(domain, user)).invitations;
    const asked = { computation_id: id, name: 'Iris', owner: 'alice', expected: ['provider'] };
    const both = { ...asked, expected: ['provider', 'consumer'] };
    const users = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'gina'];
    const all = async () => await Promise.all(users.map(invited));
    const consumer = { ...asked, expected: ['consumer'] };
    expect(await all()).toEqual([[], [], [both], [asked], [asked], [consumer], []]);
    expect((await todoOf(domain, 'carol')).totals).toMatchObject({ invitations: 1, keys: 0 });

    await aKey(stores.table, domain, id, 'carol');
    await aRefusal(domain, id, 'dave');
    await update(domain, id, { providers: ['bob', 'carol', 'dave'], consumers: ['carol', 'frank', 'erin'] });
    expect(await all()).toEqual([[], [], [], [], [consumer], [consumer], []]);
    await withdrawApproval(stores.table, { domain, computationId: id, by: 'dave', now: byAlice.now });
    expect(await invited('dave')).toEqual([asked]);
  });

  it('asks a consumer who refuses for no key, until the configuration changes', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await update(domain, id, { consumers: ['carol'], approval: 'all' });
    await aRefusal(domain, id, 'carol');
    expect((await todoOf(domain, 'carol')).keys).toEqual([]);
    await update(domain, id, { consumers: ['carol'], approval: 'all_signed' });
    expect((await todoOf(domain, 'carol')).keys).toMatchObject([{ computation_id: id }]);
  });

  it('invites reviewers, who need a key, while consumers then need none', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await update(domain, id, { consumers: ['carol'], reviewers: ['rita'] });
    await aRefusal(domain, id, 'carol');
    const open = { computation_id: id, name: 'Iris' };
    expect(await todoOf(domain, 'rita')).toMatchObject({
      keys: [open],
      invitations: [{ ...open, owner: 'alice', expected: ['reviewer'] }],
    });
    await aKey(stores.table, domain, id, 'rita');
    expect(await todoOf(domain, 'rita')).toMatchObject({ keys: [], invitations: [] });
    expect((await todoOf(domain, 'carol')).keys).toEqual([]);
  });

  it('lists the newest 20 invitations of each owner, after what others need', async () => {
    const domain = newDomain();
    await create(domain, 'dave', 0, ['bob']);
    for (let index = 1; index < 23; index++) await create(domain, 'alice', index, ['bob']);
    const { invitations, totals } = await todoOf(domain, 'bob');
    const newest = Array.from({ length: 20 }, (_, index) => `computation ${22 - index}`);
    expect(invitations.map(({ name }) => name)).toEqual([...newest, 'computation 0']);
    expect(totals).toMatchObject({ invitations: 23 });
  });

  it('tells the owner of the own refusal where it blocks a run', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    await aRefusal(domain, id, 'alice');
    const users = async () => (await todoOf(domain, 'alice')).refusals.map(({ user }) => user);
    expect(await users()).toEqual([]);
    await update(domain, id, { approval: 'all' });
    expect(await users()).toEqual(['alice']);
  });

  it('counts the link of an asset by another user as no act of its creator', async () => {
    const domain = newDomain();
    const id = await aComputation(stores.table, domain);
    await update(domain, id, { providers: ['bob'] });
    const assetId = await aDatasetOfBob(stores, domain, 'a.csv', 'open');
    const invited = async () => (await todoOf(domain, 'bob')).invitations.length;
    await linkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice });
    expect(await invited()).toBe(1);
    await unlinkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice });
    await linkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice, by: 'bob' });
    expect(await invited()).toBe(0);
  });

  it('shows the invitation of one owner beside 110 newer ones of another', async () => {
    const domain = newDomain();
    const create = (owner: string) => aComputation(stores.table, domain, 'Iris', ['bob'], owner);
    const id = await create('dave');
    for (let index = 0; index < 110; index++) await create('alice');
    expect((await todoOf(domain, 'bob')).invitations.at(-1)).toMatchObject({ computation_id: id, owner: 'dave' });
  });

  it('invites 100 providers named in place of 100 others, beside 40 consumers in place of 40 others', async () => {
    const domain = newDomain();
    const id = await aComputation(stores.table, domain);
    const users = (name: string, length: number) => Array.from({ length }, (_, index) => `${name}-${index}`);
    const invited = async (user: string) => (await todoOf(domain, user)).totals.invitations;
    await update(domain, id, { providers: users('p', 100), consumers: users('c', 40) });
    expect(await invited('p-99')).toBe(1);
    await update(domain, id, { providers: users('q', 100), consumers: users('d', 40), owner: 'dave' });
    for (const user of ['q-0', 'q-99', 'd-0', 'd-39']) expect(await invited(user)).toBe(1);
    for (const user of ['p-0', 'p-99', 'c-0', 'c-39']) expect(await invited(user)).toBe(0);
  });

  it('follows the owner', async () => {
    const domain = newDomain();
    const id = await aComputation(stores.table, domain);
    await update(domain, id, { owner: 'dave' });
    expect(await todoOf(domain, 'alice')).toEqual(nothing);
    expect((await todoOf(domain, 'dave')).keys).toEqual([{ computation_id: id, name: 'Iris' }]);
  });

  it('names an asset until its content arrives or the asset is deleted', async () => {
    const domain = newDomain();
    const { table, content } = stores;
    const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const, use: 'open' as const };
    const pending = (file_name: string) =>
      createAsset(table, content, { domain, ...fields, file_name, asset_type: 'dataset', by: 'bob', now: byAlice.now });
    const [first, second, third] = [await pending('a.csv'), await pending('b.csv'), await pending('c.csv')];
    const names = async () => (await todoOf(domain, 'bob')).content.map(({ file_name }) => file_name);
    expect(await names()).toEqual(['c.csv', 'b.csv', 'a.csv']);

    const { method, url, headers } = first.upload ?? { method: '', url: '', headers: {} };
    await fetch(url, { method, headers, body: 'x' });
    await receiveUpload(table, content, first.upload_key ?? storageKeyOf(domain, first.id), byAlice.now);
    expect(await names()).toEqual(['c.csv', 'b.csv']);
    const given = { file_name: 'b.csv', asset_type: 'dataset' as const, description: '', mime_type: '', asset: btoa('y') };
    await updateAsset(table, content, { domain, id: second.id, given, ...byAlice, by: 'bob' });
    expect((await todoOf(domain, 'bob')).content).toEqual([{ asset_id: third.id, file_name: 'c.csv' }]);
    await deleteAsset(table, { domain, id: third.id, ...byAlice });
    expect(await todoOf(domain, 'bob')).toEqual(nothing);
  });

  it('leaves nothing behind when computations and assets are deleted', async () => {
    const domain = newDomain();
    const { id, algorithm, dataset } = await aSharedComputation(stores, domain);
    const other = (await aSharedComputation(stores, domain)).id;
    await update(domain, id, { consumers: ['carol'], providers: ['dave'], approval: 'all' });
    await aRefusal(domain, id, 'bob');
    await deleteComputation(stores.table, { domain, id, permit: allowed });
    await deleteAsset(stores.table, { domain, id: dataset, ...byAlice });
    await deleteAsset(stores.table, { domain, id: algorithm, ...byAlice });
    expect(await todoOf(domain, 'carol')).toEqual(nothing);
    expect((await todoOf(domain, 'bob')).approvals).toMatchObject([{ computation_id: other }]);
    await deleteComputation(stores.table, { domain, id: other, permit: allowed });
    await purgeAll(stores.table, stores.content);
    for (const user of ['alice', 'bob', 'carol', 'dave']) expect(await todoOf(domain, user)).toEqual(nothing);
    const left = await Promise.all(todoKeys.partitions(domain).map((pk) => queryPartition(stores.table, pk)));
    expect(left.flat().filter(({ sk, refusals }) => refusals !== 0 && !String(sk).startsWith('asset#'))).toEqual([]);
  });

  it('names the newest computations first, up to 100, and an approval of an older one', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    for (let index = 0; index < 103; index++) await create(domain, 'bob', index);
    const { approvals, keys, totals } = await todoOf(domain, 'bob');
    expect(keys.map(({ name }) => name)).toEqual(Array.from({ length: 100 }, (_, index) => `computation ${102 - index}`));
    expect(approvals).toMatchObject([{ computation_id: id }]);
    expect(totals).toMatchObject({ approvals: 1, keys: 103, content: 0 });
  });

  it('names the runs whose result waits for the decision of a reviewer, until the decision or the end of the review', async () => {
    const domain = newDomain();
    const review = { reviewers: ['alice', 'rita'], needed: 1 };
    const { computation_id, run_id, checksum } = await aReviewedRun(stores, domain, 'handed in', review);
    const open = [{ computation_id, name: 'Reviewed', run_id }];
    for (const user of ['alice', 'rita']) {
      const { reviews, totals } = await todoOf(domain, user);
      expect([reviews, totals.reviews]).toEqual([open, 1]);
    }
    const waiting = () => openList(stores.table, rowLists.waiting(domain, 'alice')).page({ limit: 10, offset: 0 });
    expect((await waiting()).total).toBe(1);
    const given = { decision: 'release' as const, checksum, note: '' };
    const request = { domain, computationId: computation_id, runId: run_id, resultDays: 30, given, ...byAlice };
    await decideResult(stores.table, request);
    for (const user of ['alice', 'rita']) {
      const { reviews, totals } = await todoOf(domain, user);
      expect([reviews, totals.reviews]).toEqual([[], 0]);
    }
    expect((await waiting()).total).toBe(0);
  });

  it('notes news for a reviewer who gets mail when a result begins to wait, and not while it waits', async () => {
    const domain = newDomain();
    await putItem(stores.table, { ...mailKeys.wish(domain, hashOfUser('alice')), user_id: 'alice', address: '' });
    const { run_id } = await aReviewedRun(stores, domain);
    const key = mailKeys.news(domain, hashOfUser('alice'), 'tasks');
    await todoOf(domain, 'alice');
    expect(await getItem(stores.table, key)).toMatchObject({ domain_id: domain, kind: 'tasks' });
    await deleteItems(stores.table, [key]);
    const { pk, sk } = listKeys.row(lists.runs(domain), numberOf(run_id) ?? 0);
    await followTodo(stores.table, { Records: [{ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }] }, byAlice.now);
    expect(await getItem(stores.table, key)).toBeUndefined();
  });

  it('waits for a reviewer of an earlier run whom the computation names no more, and not after its deletion', async () => {
    const domain = newDomain();
    const { computation_id } = await aReviewedRun(stores, domain);
    await update(domain, computation_id, { consumers: ['carol'] });
    expect((await todoOf(domain, 'alice')).totals).toMatchObject({ reviews: 1 });
    await deleteComputation(stores.table, { domain, id: computation_id, permit: allowed });
    await purgeAll(stores.table, stores.content);
    expect(await todoOf(domain, 'alice')).toEqual(nothing);
  });

  it('names first what the user did', async () => {
    const domain = newDomain();
    const [first, second] = [await create(domain, 'bob', 1), await create(domain, 'bob', 2)];
    const other = await aComputation(stores.table, domain);
    const assetId = await aDatasetOfBob(stores, domain, 'iris.csv');
    await linkAsset(stores.table, { domain, assetId, computationId: other, ...byAlice });
    const keys = async () => (await todoOf(domain, 'bob')).keys.map(({ computation_id }) => computation_id);
    expect(await keys()).toEqual([second, first, other]);
    await unlinkAsset(stores.table, { domain, assetId, computationId: other, ...byAlice });
    await linkAsset(stores.table, { domain, assetId, computationId: other, ...byAlice, by: 'bob' });
    expect(await keys()).toEqual([other, second, first]);
    await update(domain, second, { owner: 'carol' });
    await update(domain, first, { owner: 'carol', consumers: ['bob'] });
    expect(await keys()).toEqual([other]);
  });

  it('asks for an approval again within a minute after it has expired', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    const at = (minutes: number) => new Date(Date.parse(byAlice.now) + minutes * 60_000).toISOString();
    await anApproval(stores, domain, id, 'bob', { expires_at: at(10) });
    expect((await todoOf(domain, 'bob')).totals).toMatchObject({ approvals: 0 });
    await recheckTodo(stores.table, at(9));
    expect((await todoOf(domain, 'bob', at(9))).totals).toMatchObject({ approvals: 0 });
    await recheckTodo(stores.table, at(10));
    expect((await readTodo(stores.table, domain, 'bob', at(10))).approvals).toMatchObject([{ computation_id: id }]);
    expect(await recheckTodo(stores.table, at(11))).toBe(0);
  });

  it('costs two round trips at any number of tasks, three with refusals', async () => {
    const domain = newDomain();
    for (let count = 0; count < 120; count++) await aComputation(stores.table, domain, 'Iris', ['bob'], 'bob');
    await todoOf(domain, 'bob');
    stores.proxy.reset();
    expect((await readTodo(stores.mortal, domain, 'bob', byAlice.now)).totals).toMatchObject({ keys: 120 });
    expect(stores.proxy.calls.length).toBeLessThan(25);
  });
});
