import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { receiveUpload } from '../../../shared/assets/uploads.ts';
import { uploadKey as storageKeyOf } from '../../../shared/rows/content-store.ts';
import { withdrawApproval } from '../../../shared/approvals/approve.ts';
import { refuse } from '../../../shared/approvals/refuse.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { computationNumber, fieldsOf } from '../../../shared/rows/computation.ts';
import { createComputation } from '../../../shared/computations/create-computation.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { linkAsset, unlinkAsset } from '../../../shared/assets/link-asset.ts';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { computationKeys, userKeys } from '../../../shared/table/keys.ts';
import { putItems } from '../../../shared/table/writes.ts';
import { readTodo } from '../../../shared/todo/read-todo.ts';
import {
  aComputation,
  aDatasetOfBob,
  aKey,
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
import { queryPartition } from '../../../shared/table/table.ts';

const stores = sharedByTests(startStores);

let domains = 0;
const newDomain = () => `d${++domains}`;
const todoOf = (domain: string, user: string) => readTodo(stores.table, domain, user, byAlice.now);
const aPublicKey = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=';
const others = { reviews: 0, refusals: 0, invitations: 0 };
const none = { approvals: 0, keys: 0, content: 0, ...others };
const empty = { reviews: [], refusals: [], invitations: [] };
const nothing = { approvals: [], keys: [], content: [], ...empty, totals: none, as_of: byAlice.now };

function update(
  domain: string,
  id: string,
  change: { owner?: string; approval?: 'none' | 'all' | 'all_signed'; consumers?: string[]; providers?: string[] },
) {
  const { consumers = [], providers = [], ...fields } = change;
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
      consumers,
      providers,
      permitted: allowed(),
    }),
  });
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

  it('lists the newest 20 invitations of each owner, after what others need', async () => {
    const domain = newDomain();
    const create = (owner: string, index: number, providers: string[]) =>
      createComputation(stores.table, {
        domain,
        fields: computationFields({ name: `computation ${index}`, owner }),
        agent_config: defaultAgentConfig,
        seal: noKey,
        attestation_policy: null,
        consumers: [],
        providers,
        by: owner,
        now: byAlice.now,
      });
    await create('dave', 0, ['bob']);
    for (let index = 1; index < 23; index++) await create('alice', index, ['bob']);
    const { invitations, totals } = await todoOf(domain, 'bob');
    const newest = Array.from({ length: 20 }, (_, index) => `computation ${22 - index}`);
    expect(invitations.map(({ name }) => name)).toEqual([...newest, 'computation 0']);
    expect(totals).toMatchObject({ invitations: 21 });
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
    await update(domain, id, { providers: users('p', 100), consumers: users('c', 40) });
    expect((await todoOf(domain, 'p-99')).invitations).toHaveLength(1);
    const later = { ...userKeys.provider(domain, 'p-98', computationNumber(id)), named_in: 1_000 }; // of a later change
    await putItems(stores.table, [later]);
    await update(domain, id, { providers: users('q', 100), consumers: users('d', 40), owner: 'dave' });
    for (const user of ['q-0', 'q-99', 'd-0', 'd-39']) expect((await todoOf(domain, user)).invitations).toHaveLength(1);
    expect(await queryPartition(stores.table, userKeys.partition(domain, 'p-98'))).toEqual([later]);
    for (const user of ['p-0', 'p-99', 'c-0', 'c-39']) {
      expect(await queryPartition(stores.table, userKeys.partition(domain, user))).toEqual([]);
    }
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
      createAsset(table, content, { domain, ...fields, file_name, asset_type: 'dataset', createdBy: 'bob', now: byAlice.now });
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

  it('leaves no invitation of a former provider behind that was not deleted', async () => {
    const domain = newDomain();
    const id = await aComputation(stores.table, domain);
    await update(domain, id, { providers: ['carol', 'dave'] });
    await update(domain, id, { providers: ['dave'] });
    await update(domain, id, {});
    for (const user of ['carol', 'dave'])
      await putItems(stores.table, [{ ...userKeys.provider(domain, user, computationNumber(id)) }]);
    await deleteComputation(stores.table, { domain, id, permit: allowed });
    await purgeAll(stores.table, stores.content);
    for (const user of ['carol', 'dave'])
      expect(await queryPartition(stores.table, userKeys.partition(domain, user))).toEqual([]);
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
    for (const user of ['alice', 'bob', 'carol', 'dave']) {
      expect(await queryPartition(stores.table, userKeys.partition(domain, user))).toEqual([]);
    }
  });

  it('names the newest computations first, up to 100, and an approval of an older one', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    const create = async (index: number) =>
      createComputation(stores.table, {
        domain,
        fields: computationFields({ name: `computation ${index}`, owner: 'bob' }),
        agent_config: defaultAgentConfig,
        seal: noKey,
        attestation_policy: null,
        consumers: [],
        providers: [],
        by: 'bob',
        now: byAlice.now,
      });
    for (let index = 0; index < 103; index++) await create(index);
    const { approvals, keys, totals } = await todoOf(domain, 'bob');
    expect(keys.map(({ name }) => name)).toEqual(Array.from({ length: 100 }, (_, index) => `computation ${102 - index}`));
    expect(approvals).toMatchObject([{ computation_id: id }]);
    expect(totals).toMatchObject({ approvals: 1, keys: 103, content: 0 });
  });

  it('names first what the user did', async () => {
    const domain = newDomain();
    const own = async () => {
      const { id } = await aSharedComputation(stores, domain);
      await aKey(stores.table, domain, id, 'bob');
      return id;
    };
    const [first, second] = [await own(), await own()];
    const named = await aComputation(stores.table, domain);
    await update(domain, named, { owner: 'bob' });
    const { approvals, keys } = await todoOf(domain, 'bob');
    expect(approvals.map(({ computation_id }) => computation_id)).toEqual([second, first]);
    expect(keys.map(({ computation_id }) => computation_id)).toEqual([named]);

    const asked = (index: number) => userKeys.consumer(domain, 'bob', 5_000 + index);
    const bury = async (
      from: number,
      until: number,
      place = (index: number) => userKeys.owner(domain, 'bob', 1_000 + index, false),
    ) => {
      const keys = Array.from({ length: until - from }, (_, index) => place(from + index));
      await putItems(
        stores.table,
        keys.map((key) => ({ ...key })),
      ); // in deleted computations, which wait for nothing
    };
    await bury(0, 2_000, asked); // which others named bob in
    await bury(0, 297); // with these, bob is in 300
    const exact = { totals: { approvals: 2, keys: 1, content: 0, invitations: null } };
    expect(await todoOf(domain, 'bob')).toMatchObject({ approvals, keys, ...exact });
    await bury(297, 310);
    const open = { totals: { approvals: null, keys: null, content: 0 } };
    expect(await todoOf(domain, 'bob')).toMatchObject({ approvals, keys: [], ...open });
    await bury(310, 2_000);
    stores.proxy.reset();
    expect(await readTodo(stores.mortal, domain, 'bob', byAlice.now)).toMatchObject({ approvals, ...open });
    // What bob did, where others named bob, as what, the assets without content, and the parts of two computations.
    expect(stores.proxy.calls.filter(({ operation }) => operation === 'Query')).toHaveLength(6);
  });

  it('examines no older computations once it would read more than 1,000 assets', async () => {
    const domain = newDomain();
    const { id } = await aSharedComputation(stores, domain);
    let assets = 1_000_000;
    const createLinked = async (links: number) => {
      const newer = await aComputation(stores.table, domain);
      await update(domain, newer, { owner: 'bob' });
      const name = (index: number) => `${newer}-${index}.csv`;
      const linksOf = Array.from({ length: links }, (_, index) => ({
        ...computationKeys.dataset(newer, name(index)),
        file_name: name(index),
        asset_type: 'dataset',
        asset_id: numberedId(++assets),
        linked_as: index + 1,
        created_by: 'alice',
      }));
      await putItems(stores.table, linksOf); // of deleted assets
    };
    for (let count = 0; count < 9; count++) await createLinked(100);
    await createLinked(98); // and two that are linked to the oldest
    expect(await todoOf(domain, 'bob')).toMatchObject({
      approvals: [{ computation_id: id }],
      totals: { approvals: 1, keys: 10 },
    });
    await createLinked(1);
    const open = { totals: { approvals: null, keys: null, content: 0 } };
    expect(await todoOf(domain, 'bob')).toMatchObject({ approvals: [{ computation_id: id }], keys: { length: 10 }, ...open });
  });
});
