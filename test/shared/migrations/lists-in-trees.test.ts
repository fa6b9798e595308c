import { beforeEach, describe, expect, it } from 'vitest';
import { listAssets } from '../../../shared/assets/list-assets.ts';
import { listComputations } from '../../../shared/computations/list-computations.ts';
import { readStatistics } from '../../../shared/computations/statistics.ts';
import { deleteComputation } from '../../../shared/deletion/delete-computation.ts';
import { numberOf } from '../../../shared/identifiers.ts';
import { linkAsset } from '../../../shared/links/link-asset.ts';
import { listLinkedComputations } from '../../../shared/links/linked-computations.ts';
import { foldDueLists } from '../../../shared/lists/fold-due.ts';
import { encodeHead, parseHead } from '../../../shared/lists/head.ts';
import { indexedLists, type IndexedList } from '../../../shared/lists/indexed-list.ts';
import { runMigrations } from '../../../shared/migrations/run-migrations.ts';
import { listRuns } from '../../../shared/runs/list-runs.ts';
import { indexKeys } from '../../../shared/table/index-keys.ts';
import { keyToWrite, listKeys, lists, migrationKeys, writableKey, type Key, type List } from '../../../shared/table/keys.ts';
import { facetsOf, oldListKeys, oldStatisticsKeys } from '../../../shared/table/old-list-keys.ts';
import { clockOf, getItem, queryPartition, type Item, type Table } from '../../../shared/table/table.ts';
import { deleteItems, putItem, putItems } from '../../../shared/table/writes.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { dieAtEveryCall } from '../../support/builders-purge.ts';
import {
  aComputation,
  anAsset,
  aReadyComputation,
  aRun,
  byAlice,
  endRunWith,
  startStores,
} from '../../support/builders-store.ts';
import { addToList, countTransition } from '../../support/earlier-lists.ts';
import { daysBeforeHead } from '../../support/interleave.ts';
import { scan } from '../../support/lifecycle-inconsistencies.ts';
import { inLists } from '../../support/list-inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { tableThrough } from '../../support/table-through.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';

const stores = sharedByTests(startStores);
const clear = async () => deleteItems(stores.table, (await scan(stores.table)) as unknown as Key[]);
beforeEach(clear);

/** `npm test` tries every twelfth call. The seed says where it begins. */
const stride = amount({ sample: 12, full: 1 });
const domain = 'd1';
/** A transaction of the embedded engine shows as a whole, so that nothing waits for its other items. */
const unwaiting = (table: Table) => ({ ...table, clock: { ...clockOf(table), wait: () => Promise.resolve() } });
const migrate = (table: Table = stores.table) => runMigrations(unwaiting(table), { now: byAlice.now, graceInSeconds: 0 });

/** Rewrites the lists of the domain as earlier versions kept them: an index in the transaction of each row, and no log. */
async function asEarlierVersionsHadIt(assetId: string): Promise<void> {
  const { table } = stores;
  const indexes = [indexedLists.computations(domain), indexedLists.assets(domain), indexedLists.linkedComputations(assetId)];
  for (const { index } of indexes) {
    for (const pk of indexKeys.partitions(index)) await deleteItems(table, (await queryPartition(table, pk)) as unknown as Key[]);
  }
  const enter = async (list: List) => {
    for (const row of (await queryPartition(table, list.pk)).filter(isRow)) {
      const facet = Object.keys(facetsOf(list)).find((each) => each === row['status'] || each === row['asset_type']) ?? 'all';
      await transact(table, addToList(list, Number(String(row['sk']).slice(listKeys.prefixes.row.length)), facet));
      const [counter] = await queryPartition(table, listKeys.counter(list).pk);
      if (counter)
        await transact(table, [{ put: { Item: { ...oldListKeys.counter(list), last_number: counter['last_number'] } } }]);
    }
    await deleteItems(table, [listKeys.counter(list)]);
  };
  await enter(lists.computations(domain));
  await enter(lists.runs(domain));
  await enter(lists.assets(domain));
  await enter(lists.linkedComputations(assetId));
  const events = (await scan(table)).filter(({ pk, sk }) => String(pk).startsWith('journal#') && String(sk).startsWith('event#'));
  const statusOf: Record<string, string> = { created: 'created', started: 'running', completed: 'completed' };
  for (const { event_type } of events) {
    const status = statusOf[String(event_type)];
    if (status !== undefined) await transact(table, [countTransition(domain, status, byAlice.now)]);
  }
}

const contradictions = async () => inLists(Map.groupBy(await scan(stores.table), ({ pk }) => String(pk)));

const headOf = ({ index }: Pick<IndexedList, 'index'>) => getItem(stores.table, indexKeys.head(index));

const isRow = ({ sk }: Item) => String(sk).startsWith(listKeys.prefixes.row);

async function everyPage(computationId: string, assetId: string) {
  const { table } = stores;
  const page = { limit: 3, offset: 1 };
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
  const computations = async (filter: object) => {
    const { computations: rows, total } = await listComputations(table, domain, { ...page, ...filter });
    return { ids: ids(rows), total };
  };
  const runs = async (filter: object) => {
    const { runs: rows, total } = await listRuns(table, domain, { limit: 3, offset: 0, ...filter });
    return { ids: ids(rows), total };
  };
  const assets = await listAssets(table, domain, { limit: 10, offset: 0, asset_type: 'algorithm' });
  const linked = await listLinkedComputations(table, domain, assetId, { limit: 10, offset: 0 });
  return {
    all: await computations({}),
    created: await computations({ status: 'created' }),
    ofAlice: await computations({ owner: 'alice' }),
    ofBob: await computations({ owner: 'bob' }),
    runs: await runs({}),
    completedRuns: await runs({ status: 'completed' }),
    runsOfOne: await runs({ computation_id: computationId }),
    assets: { ids: ids(assets.assets), total: assets.total },
    linked: { ids: ids(linked.computations), total: linked.total },
    statistics: await readStatistics(table, domain, 366, byAlice.now),
  };
}

/** Lists of earlier versions, and changes that this version has made since. */
async function aTableInBetween(): Promise<{ first: string; asset: string }> {
  const ready = await aReadyComputation(stores, domain);
  const run = await aRun(stores, domain, ready.id, 'cvm-1');
  const deleted = await aComputation(stores.table, domain, 'deleted');
  for (let count = 0; count < 3; count++) await aComputation(stores.table, domain);
  const asset = await anAsset(stores, domain, { file_name: 'x.csv', asset_type: 'dataset', asset: btoa('1') });
  await linkAsset(stores.table, { domain, assetId: asset, computationId: ready.id === deleted ? ready.id : deleted, ...byAlice });
  await asEarlierVersionsHadIt(asset);
  await endRunWith(stores, domain, run);
  await aComputation(stores.table, domain, 'new');
  await deleteComputation(stores.table, { domain, id: deleted, permit: byAlice.permit });
  await purgeAll(stores.table, stores.content);
  return { first: ready.id, asset };
}

describe('lists of earlier versions', () => {
  it('return the same pages and totals before and after the migration, together with what has changed since', async () => {
    const { first, asset } = await aTableInBetween();
    const before = await everyPage(first, asset);
    expect(before).toMatchObject({
      all: { total: 5 },
      created: { total: 4 },
      ofAlice: { total: 5 },
      ofBob: { total: 0 },
      runs: { total: 1 },
      completedRuns: { total: 1 },
      runsOfOne: { total: 1 },
      linked: { ids: [], total: 0 },
    });
    expect(await migrate()).toBe(0);
    expect(await everyPage(first, asset)).toEqual(before);
    expect(await contradictions()).toEqual([]);
    expect(await headOf(indexedLists.computations(domain))).toMatchObject({ folds: [{ stage: 'seen' }] });
  });

  it('follow their rows where a function of an earlier version has changed one without the log', async () => {
    await aTableInBetween();
    const id = await aComputation(stores.table, domain);
    const key = keyToWrite(listKeys.row(lists.computations(domain), numberOf(id) ?? 0));
    await putItem(stores.table, { ...(await getItem(stores.table, key)), ...key, status: 'failed' });
    expect(await migrate()).toBe(0);
    expect(await contradictions()).toEqual([]);
    const failed = await listComputations(stores.table, domain, { limit: 1, offset: 0, status: 'failed' });
    expect([failed.total, failed.computations[0]?.id]).toEqual([1, id]);
  });

  it('leave nothing in the log once the schedule has folded what the migration had not yet deleted', async () => {
    await aTableInBetween();
    expect(await migrate()).toBe(0);
    let time = Date.now();
    const clock = { now: () => time, wait: () => Promise.resolve() };
    for (let minute = 0; minute < 4; minute++) {
      time += 61_000;
      await foldDueLists({ ...stores.table, clock });
    }
    const { index } = indexedLists.computations(domain);
    expect((await Promise.all(indexKeys.logs(index).map((log) => queryPartition(stores.table, log)))).flat()).toEqual([]);
    expect(await headOf({ index })).toMatchObject({ folds: [] });
    expect(await contradictions()).toEqual([]);
  });

  it('are folded by the schedule also if their log has a single change, or if only days of the statistics are left', async () => {
    await aComputation(stores.table, domain);
    await asEarlierVersionsHadIt(await anAsset(stores, domain));
    await anAsset(stores, domain, { file_name: 'x.csv', asset_type: 'dataset' });
    expect(await migrate()).toBe(0);
    let time = Date.now();
    for (let minute = 0; minute < 4; minute++) {
      time += 61_000;
      await foldDueLists({ ...stores.table, clock: { now: () => time, wait: () => Promise.resolve() } });
    }
    const { index } = indexedLists.assets(domain);
    expect((await Promise.all(indexKeys.logs(index).map((log) => queryPartition(stores.table, log)))).flat()).toEqual([]);
    expect(await headOf(indexedLists.computations(domain))).toMatchObject({ days: {}, folds: [] });
  });

  it('are as they were while two runners migrate them at the same time', async () => {
    const { first, asset } = await aTableInBetween();
    const before = await everyPage(first, asset);
    await Promise.all([migrate(), migrate(), migrate()]);
    expect(await everyPage(first, asset)).toEqual(before);
    expect(await migrate()).toBe(0);
    expect(await everyPage(first, asset)).toEqual(before);
    expect(await contradictions()).toEqual([]);
  });

  it('are left to a rebuild that is at work on their index', async () => {
    await aTableInBetween();
    await migrate();
    const { index } = indexedLists.computations(domain);
    const head = parseHead(await headOf({ index }));
    await putItem(stores.table, { ...indexKeys.head(index), ...encodeHead({ ...head, held: 'building' }) });
    await deleteItems(stores.table, [migrationKeys.state('lists-in-trees')]);
    expect(await migrate()).toBe(0);
    expect(await headOf({ index })).toMatchObject({ version: head.version, held: 'building' });
    expect(await getItem(stores.table, indexKeys.build(index))).toBeUndefined();
  });

  it('give new members numbers that no function of an earlier version issues at the same time', async () => {
    await aTableInBetween();
    const id = await aComputation(stores.table, domain);
    expect(numberOf(id)).toBeGreaterThan(10_000);
  });

  it('are complete whichever call the migration dies at', async () => {
    const { first, asset } = await aTableInBetween();
    const before = await everyPage(first, asset);
    const items = (await scan(stores.table)) as (Item & Key)[];
    const prepare = async () => {
      await clear();
      await putItems(stores.table, items);
    };
    const calls = await dieAtEveryCall(
      stores,
      prepare,
      () => migrate(stores.mortal),
      async (_, death) => expect(await everyPage(first, asset), death).toEqual(before),
    );
    expect(calls).toBeGreaterThan(20);
    expect(await migrate()).toBe(0);
    expect(await contradictions()).toEqual([]);
  });

  it('have every day in each read of the statistics, while the migration ends and while folds move the days', async () => {
    await aTableInBetween();
    const { table } = stores;
    const day = 86_400_000;
    const earlier = Array.from({ length: 250 }, (_, at) => ({
      ...writableKey(
        oldStatisticsKeys.partition(domain),
        new Date(Date.parse(byAlice.now) - (at + 1) * day).toISOString().slice(0, 10),
      ),
      created: at + 1,
    }));
    await putItems(table, earlier);
    let time = Date.parse(byAlice.now) + 7 * day;
    const clocked = { ...table, clock: { now: () => time, wait: () => Promise.resolve() } };
    const statistics = (from: Table = clocked) => readStatistics(from, domain, 366, byAlice.now);
    const before = await statistics();
    expect(before.length).toBeGreaterThan(250);
    expect(await statistics(daysBeforeHead(clocked, () => migrate(clocked)))).toEqual(before);
    for (let minute = 0; minute < 6; minute++) {
      await foldDueLists(clocked);
      time += 61_000;
      expect(await statistics()).toEqual(before);
    }
    expect(await headOf(indexedLists.computations(domain))).toMatchObject({ days: {}, folds: [] });
  });

  it('are complete also for a read in a new process during which the migration ends', async () => {
    const { first, asset } = await aTableInBetween();
    const { all, ofAlice, statistics } = await everyPage(first, asset);
    const items = (await scan(stores.table)) as (Item & Key)[];
    const page = { limit: 3, offset: 1 };
    const reads: [unknown, (table: Table) => Promise<unknown>][] = [
      [all.total, async (table) => (await listComputations(table, domain, page)).total],
      [ofAlice.total, async (table) => (await listComputations(table, domain, { ...page, owner: 'alice' })).total],
      [statistics, (table) => readStatistics(table, domain, 366, byAlice.now)],
    ];
    for (const [expected, read] of reads) {
      let isMet = true;
      for (let call = 2; isMet; call += call === 2 ? 1 + (sampleSeed % stride) : stride) {
        await clear();
        await putItems(stores.table, items);
        isMet = false;
        const table = beforeItsCall(call, async () => {
          isMet = true;
          await migrate();
        });
        const when = `before call ${call} (TEST_SEED=${sampleSeed})`;
        expect(await read(table), when).toEqual(expected);
        expect(await read(table), when).toEqual(expected);
      }
    }
  });
});

/** The table, of which this process knows nothing yet. A call of it waits until `act` is done. */
function beforeItsCall(call: number, act: () => Promise<void>): Table {
  let calls = 0;
  return tableThrough(stores.table, async (send) => {
    if (++calls === call) await act();
    return await send();
  });
}
