import { beforeEach, describe, expect, it } from 'vitest';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { systemClock, type Clock } from '../../../shared/clock.ts';
import { defaultAgentConfig } from '../../../shared/computations/agent-config.ts';
import { createComputation } from '../../../shared/computations/create-computation.ts';
import { Deadline } from '../../../shared/deadline.ts';
import { deleteAsset } from '../../../shared/deletion/delete-asset.ts';
import { deleteComputation } from '../../../shared/deletion/delete-computation.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { linkAsset, unlinkAsset } from '../../../shared/links/link-asset.ts';
import { updateAsset } from '../../../shared/links/update-asset.ts';
import { openTasksOfUsers } from '../../../shared/migrations/open-tasks-of-users.ts';
import { runMigrations } from '../../../shared/migrations/run-migrations.ts';
import { migrationKeys, type Key } from '../../../shared/table/keys.ts';
import { getItem, type Table } from '../../../shared/table/table.ts';
import { deleteItems } from '../../../shared/table/writes.ts';
import { readTodo } from '../../../shared/todo/read-todo.ts';
import { aDatasetOfBob, aSharedComputation, type SharedComputation } from '../../support/approvals.ts';
import { dieAtEveryCall } from '../../support/builders-purge.ts';
import { aComputation, aKey, allowed, byAlice, noKey, startStores } from '../../support/builders-store.ts';
import { computationFields } from '../../support/computation-fields.ts';
import { forgetOpenTasks, isOpenTask } from '../../support/earlier-open-tasks.ts';
import { inconsistencies, scan } from '../../support/lifecycle-inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);
const clear = async () => deleteItems(stores.table, (await scan(stores.table)) as unknown as Key[]);
beforeEach(clear);

const domain = 'd1';
const migrate = (table: Table = stores.table) => runMigrations(table, { now: byAlice.now, graceInSeconds: 0 });
const stateOf = () => getItem(stores.table, migrationKeys.state('open-tasks-of-users'));
const changed = async () => (await stateOf())?.['changed'];
const todoOf = (user: string) => readTodo(stores.table, domain, user, byAlice.now);
const todosOf = async (...users: string[]) => await Promise.all(users.map(todoOf));

const mirrors = async () =>
  (await scan(stores.table))
    .filter(isOpenTask)
    .map(({ pk, sk }) => `${String(pk)} ${String(sk)}`)
    .sort();

async function pendingAssetOf(user: string): Promise<string> {
  const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const, use: 'open' as const };
  const given = { file_name: 'pending.csv', asset_type: 'dataset' as const, createdBy: user, now: byAlice.now };
  return (await createAsset(stores.table, stores.content, { domain, ...fields, ...given })).id;
}

async function aComputationFor(...consumers: string[]): Promise<string> {
  const fields = computationFields();
  const given = { domain, fields, agent_config: defaultAgentConfig, seal: noKey, consumers, by: 'alice', now: byAlice.now };
  return (await createComputation(stores.table, given)).row.id;
}

/** A clock on which each look at the time takes so many milliseconds. */
function clockThatRuns(milliseconds: number): Clock {
  let now = Date.parse(byAlice.now);
  return { ...systemClock, now: () => (now += milliseconds) };
}

/** A computation of alice that needs an approval of bob, one that needs keys of alice and carol, and a pending asset of bob. */
async function aTableOfAnEarlierVersion() {
  const shared = await aSharedComputation(stores, domain);
  await aComputationFor('carol');
  const pending = await pendingAssetOf('bob');
  const [before, todos] = [await mirrors(), await todosOf('alice', 'bob', 'carol')];
  await forgetOpenTasks(stores.table);
  return { ...shared, pending, before, todos };
}

describe('the migration open-tasks-of-users', () => {
  it('adds what waits for users in computations, links, keys and assets of earlier versions', async () => {
    const { id, before, todos } = await aTableOfAnEarlierVersion();
    expect(todos).toMatchObject([
      { keys: [{ name: 'Iris' }] },
      { approvals: [{ computation_id: id, because: ['iris.csv'] }], content: [{ file_name: 'pending.csv' }] },
      { keys: [{ name: 'Iris' }] },
    ]);
    expect(await todosOf('alice', 'bob', 'carol')).toEqual(todos.map(() => ({ approvals: [], keys: [], content: [] })));

    expect(await migrate()).toBe(0);
    expect(await todosOf('alice', 'bob', 'carol')).toEqual(todos);
    expect(await mirrors()).toEqual(before);
    const linksThatWereChanged = 2;
    expect(await changed()).toBe(before.length + linksThatWereChanged);
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  });

  it('changes nothing of what this version wrote', async () => {
    await aSharedComputation(stores, domain);
    await pendingAssetOf('bob');
    const before = (await scan(stores.table)).filter(({ pk }) => pk !== migrationKeys.partition);
    await migrate();
    expect(await changed()).toBe(0);
    expect((await scan(stores.table)).filter(({ pk }) => pk !== migrationKeys.partition)).toHaveLength(before.length);
  });

  it('adds items that unlinking, renaming and deletes find again', async () => {
    const { id, algorithm, dataset, pending } = await aTableOfAnEarlierVersion();
    await migrate();
    const given = { file_name: 'other.csv', asset_type: 'dataset' as const, description: '', mime_type: '' };
    await updateAsset(stores.table, stores.content, { domain, id: dataset, given, ...byAlice, by: 'bob' });
    expect((await todoOf('bob')).approvals).toMatchObject([{ because: ['other.csv'] }]);
    await unlinkAsset(stores.table, { domain, assetId: dataset, computationId: id, ...byAlice });
    expect((await todoOf('bob')).approvals).toEqual([]);
    await deleteAsset(stores.table, { domain, id: pending, ...byAlice });
    await deleteAsset(stores.table, { domain, id: algorithm, ...byAlice });
    await purgeAll(stores.table, stores.content);
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
    await deleteComputation(stores.table, { domain, id, permit: allowed });
    await purgeAll(stores.table, stores.content);
    expect(await mirrors()).toHaveLength(2); // alice and carol of the other computation
  });

  it('continues where it was when its time ended in the middle of a step', async () => {
    const { before } = await aTableOfAnEarlierVersion();
    const options = { now: byAlice.now, graceInSeconds: 0, migrations: [openTasksOfUsers] };
    for (let calls = 0, open = 1; open > 0; calls++) {
      expect(calls).toBeLessThan(20);
      const deadline = new Deadline(4_600 + 500 * calls, clockThatRuns(150));
      open = await runMigrations({ ...stores.table, deadline: () => deadline }, options);
    }
    expect((await stateOf())?.['steps']).toBeGreaterThan(1); // one reads the whole table
    expect(await mirrors()).toEqual(before);
  });

  it('is complete whichever call it dies at', async () => {
    const prepare = async () => {
      await clear();
      return await aTableOfAnEarlierVersion();
    };
    const calls = await dieAtEveryCall(
      stores,
      prepare,
      () => migrate(stores.mortal),
      async ({ before }, death) => {
        expect([death, await migrate()]).toEqual([death, 0]);
        expect([death, await mirrors()]).toEqual([death, before]);
        expect([death, ...inconsistencies(await scan(stores.table))]).toEqual([death]);
      },
    );
    expect(calls).toBeGreaterThan(20);
  });

  it('agrees with links, keys and deletes that are made at the same time', async () => {
    const shared: SharedComputation[] = [];
    for (let count = 0; count < 4; count++) shared.push(await aSharedComputation(stores, domain));
    const pending = await pendingAssetOf('bob');
    await forgetOpenTasks(stores.table);
    const traffic = async () => {
      const [first, second, third] = shared;
      if (!first || !second || !third) throw new Error('There are not enough computations.');
      await unlinkAsset(stores.table, { domain, assetId: first.dataset, computationId: first.id, ...byAlice });
      await aKey(stores.table, domain, second.id, 'carol');
      const other = await aDatasetOfBob(stores, domain, 'other.csv');
      await linkAsset(stores.table, { domain, assetId: other, computationId: second.id, ...byAlice });
      const given = { file_name: 'other name.csv', asset_type: 'dataset' as const, description: '', mime_type: '' };
      await updateAsset(stores.table, stores.content, { domain, id: second.dataset, given, ...byAlice, by: 'bob' });
      await deleteComputation(stores.table, { domain, id: third.id, permit: allowed });
      await deleteAsset(stores.table, { domain, id: pending, ...byAlice });
      await aComputation(stores.table, domain);
    };
    await Promise.all([traffic(), migrate()]);
    expect(await migrate()).toBe(0);
    await purgeAll(stores.table, stores.content);
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  });
});
