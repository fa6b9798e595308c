import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listComputations } from '../../../shared/computations/list-computations.ts';
import { readStatistics } from '../../../shared/computations/statistics.ts';
import { deleteComputation } from '../../../shared/deletion/delete-computation.ts';
import { buildTrees, putBuild, TakenOverError } from '../../../shared/lists/build-trees.ts';
import { checkPage, checkTotals, type Mismatch } from '../../../shared/lists/check-list.ts';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { emptyHead, encodeHead, parseHead } from '../../../shared/lists/head.ts';
import { groupOfOwner, indexedLists, listsOfIndex, memberChange } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { decodeNode, encodeNode, isLeaf, type Member } from '../../../shared/lists/node.ts';
import { readPage } from '../../../shared/lists/read-page.ts';
import { readProgress, rebuildIndex } from '../../../shared/lists/rebuild.ts';
import { listRuns } from '../../../shared/computations/read-runs.ts';
import { indexKeys, type Key, keyOfItem, keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import { getItem, queryPartition, type Table } from '../../../shared/table/table.ts';
import { deleteItems, putItem, putItems } from '../../../shared/table/writes.ts';
import { amount } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { dieAtEveryCall } from '../../support/builders-purge.ts';
import {
  aComputation,
  aReadyComputation,
  aRun,
  allowed,
  byAlice,
  endRunWith,
  startStores,
  type Stores,
} from '../../support/builders-store.ts';
import { inLists, scan } from '../../support/inconsistencies.ts';
import { tableThrough } from '../../support/embedded-table.ts';

const domain = 'd1';
const list = indexedLists.computations(domain);
const lists = listsOfIndex(list.index.scope) ?? [list];
const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(seed);
let stores: Stores;
let time = Date.parse('2026-01-01T00:00:00Z');
const clock = {
  now: () => time,
  wait: async (milliseconds: number) => {
    time += milliseconds;
  },
};
const timed = (table: Table): Table => ({ ...table, clock });
beforeAll(async () => {
  stores = await startStores();
});
beforeEach(async () => {
  await deleteItems(stores.table, (await scan(stores.table)) as unknown as Key[]);
});
afterAll(() => stores.stop());

/** Computations and a run, all of which are in the trees. */
async function fill(): Promise<string[]> {
  const { id } = await aReadyComputation(stores, domain);
  await endRunWith(stores, domain, await aRun(stores, domain, id));
  const ids = [id];
  for (let count = 0; count < 4; count++) ids.push(await aComputation(stores.table, domain));
  await foldAll();
  return ids;
}

async function foldAll(): Promise<void> {
  for (let fold = 0; fold < 4; fold++) {
    await foldChanges(timed(stores.table), list.index, 1);
    time += 5_000;
  }
}

async function check(): Promise<(Mismatch | string)[]> {
  const found: (Mismatch | string)[] = [];
  for (const each of lists) {
    for (let from: number | undefined = 1; from !== undefined;) {
      const { mismatches, wrongCounts, next } = await checkPage(timed(stores.table), each, from);
      found.push(...mismatches, ...wrongCounts);
      from = next;
    }
    found.push(...(await checkTotals(timed(stores.table), each)));
  }
  return found;
}

const contradictions = async () => inLists(Map.groupBy(await scan(stores.table), ({ pk }) => String(pk)));
const rowOf = (number: number) => keyToWrite(listKeys.row(list.rows, number));
const rebuild = (table: Table = stores.table) => rebuildIndex(timed(table), lists, () => undefined);

/** Makes rows that no list has, and members that have no row or another state. */
async function breakLists(): Promise<void> {
  await deleteItems(stores.table, [rowOf(2)]);
  const row = await getItem(stores.table, rowOf(3));
  await putItem(stores.table, { ...row, ...rowOf(3), status: 'running' });
  await putItem(stores.table, { ...row, ...rowOf(9) });
}

/** Writes computations and their changes in the log, without journals. */
async function createInBulk(count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, at) => at + 1).flatMap((number) => {
    const changes = [memberChange(list, number, { now: 'created', group: groupOfOwner('alice') })];
    const { Key, ExpressionAttributeValues: values } = logChange(list.index, number, { version: 1, changes }).update ?? {};
    const row = { ...rowOf(number), status: 'created', owner: 'alice' };
    return [row, { ...(Key as Key), version: 1, s1: values?.[':step'] as string }];
  });
  const parts = Array.from({ length: 8 }, (_, part) => items.filter((_, at) => at % 8 === part));
  await Promise.all(parts.map((part) => putItems(stores.table, part)));
}

/** The same table, with a random pause before each call. */
function slowTable(): Table {
  return tableThrough(stores.table, async (send) => {
    await delay(random() ** 3 * 40);
    return await send();
  });
}

const headItem = () => getItem(stores.table, indexKeys.head(list.index));
const isCleaning = async () => (await headItem())?.['held'] === 'cleaning';

async function seen() {
  const { table } = stores;
  const page = { limit: 10, offset: 0 };
  return {
    all: (await listComputations(table, domain, page)).total,
    created: (await listComputations(table, domain, { ...page, status: 'created' })).total,
    ofAlice: (await listComputations(table, domain, { ...page, owner: 'alice' })).total,
    runs: (await listRuns(table, domain, page)).total,
    statistics: await readStatistics(table, domain, 366, byAlice.now),
  };
}

describe('a check of a list', () => {
  it('finds nothing in lists that agree with their rows, with changes in the log and without', async () => {
    await fill();
    expect(await check()).toEqual([]);
    await aComputation(stores.table, domain);
    expect(await check()).toEqual([]);
  });

  it('finds members without a row, rows without a member and other states, in each tree', async () => {
    await fill();
    await breakLists();
    const group = groupOfOwner('alice');
    expect(await check()).toEqual([
      { tree: 'c', group: '', number: 3, row: 2, index: 1 },
      { tree: 'c', group: '', number: 9, row: 1, index: 0 },
      { tree: 'c', group: '', number: 2, row: 0, index: 1 },
      { tree: 'o', group, number: 3, row: 2, index: 1 },
      { tree: 'o', group, number: 9, row: 1, index: 0 },
    ]);
  });

  it('reads the roots of its trees together with the head', async () => {
    await fill();
    stores.proxy.reset();
    await checkPage(timed(stores.mortal), list, 1);
    expect(stores.proxy.calls.filter(({ operation }) => operation === 'GetItem')).toHaveLength(1);
  });

  it('finds nodes that do not have the counts of their parents', async () => {
    const failed = (member: Member): Member => (member.number === 3 ? { ...member, state: 2 } : member);
    await createInBulk(1_100);
    await foldAll();
    expect(await check()).toEqual([]);
    const items = await scan(stores.table);
    for (const item of items.filter(({ pk }) => String(pk).startsWith('nodes#'))) {
      const nodes = Object.entries(item['nodes'] as Record<string, Uint8Array>).map(([name, bytes]) => {
        const node = decodeNode(bytes, false);
        return [name, isLeaf(node) ? encodeNode({ ...node, members: node.members.map(failed) }, false) : bytes] as const;
      });
      await putItem(stores.table, { ...item, ...keyOfItem(item), nodes: Object.fromEntries(nodes) });
    }
    const wrong = (tree: string): unknown =>
      expect.stringMatching(
        new RegExp(`^${list.rows.pk}: the node of the tree ${tree} .* has the counts 0, \\d+, 1, .*, its parent 0, `),
      ) as string;
    expect(await check()).toEqual(expect.arrayContaining([wrong('c'), wrong('o')]));
  });

  it('finds totals of the head that are not those of the tree', async () => {
    await fill();
    const head = await getItem(stores.table, indexKeys.head(list.index));
    await putItem(stores.table, { ...head, ...indexKeys.head(list.index), totals: { c: [0, 9, 0, 0, 0, 0, 0, 0] } });
    expect(await check()).toEqual(expect.arrayContaining([`${list.rows.pk}: the head counts 9 members in state 1, the tree 4.`]));
  });
});

describe('a fold that reads its nodes after another one has replaced them', () => {
  it('has folded nothing, and loses no change', async () => {
    await createInBulk(1_100);
    await foldAll();
    const changes = [memberChange(list, 1, { before: 'created', now: 'running', group: groupOfOwner('alice') })];
    const { Key, ExpressionAttributeValues: values } = logChange(list.index, 1, { version: 1, changes }).update ?? {};
    const entry = { ...(Key as Key), version: 1, s1: values?.[':step'] as string };
    await putItems(stores.table, [{ ...rowOf(1), status: 'running', owner: 'alice' }, entry]);
    let isFirst = true;
    const late = tableThrough(timed(stores.table), async (send, { input }) => {
      if (isFirst && JSON.stringify(input).includes('nodes#')) {
        isFirst = false;
        await foldAll();
      }
      return await send();
    });
    expect(await foldChanges(late, list.index, 1)).toMatchObject({ steps: 1, folded: 0 });
    expect(isFirst).toBe(false);
    expect([await check(), await contradictions()]).toEqual([[], []]);
  });
});

describe('a rebuild of an index', () => {
  it('records each step that is done, and how far it has come', async () => {
    const progress = () => getItem(stores.table, indexKeys.build(list.index));
    await putItem(stores.table, { ...indexKeys.head(list.index), ...encodeHead({ ...emptyHead, version: 1, held: 'building' }) });
    await buildTrees(stores.table, lists);
    expect(await progress()).toMatchObject({ steps: 1, list: 1, number: 0, writing: [] });
    await buildTrees(stores.table, lists);
    expect(await progress()).toMatchObject({ steps: 2, stage: 'log' });
  });

  it('makes lists agree with their rows again, keeps the statistics, and deletes the old trees', async () => {
    await fill();
    const { statistics } = await seen();
    await breakLists();
    await rebuild();
    expect(await contradictions()).toEqual([]);
    expect(await check()).toEqual([]);
    expect(await seen()).toEqual({ all: 5, created: 3, ofAlice: 5, runs: 1, statistics });
    const roots = (await queryPartition(stores.table, indexKeys.partition(list.index))).filter(({ sk }) =>
      String(sk).startsWith('root#'),
    );
    const head = await getItem(stores.table, indexKeys.head(list.index));
    expect(roots).toHaveLength(Object.keys(head?.['roots'] as object).length);
  });

  it('includes what changes while it is at work', async () => {
    const [first = '', second = ''] = await fill();
    let steps = 0;
    await rebuildIndex(timed(stores.table), lists, () => (steps += 1));
    expect(steps).toBeGreaterThan(1);
    const changing = (async () => {
      await deleteComputation(stores.table, { domain, id: second, permit: allowed });
      await aComputation(stores.table, domain);
      await endRunWith(stores, domain, await aRun(stores, domain, first));
    })();
    await Promise.all([rebuild(), changing]);
    await foldAll();
    expect(await contradictions()).toEqual([]);
    expect(await seen()).toMatchObject({ all: 5, runs: 2 });
  });

  it('follows rows that were changed without the log while their last changes are still in it', async () => {
    for (let count = 0; count < 4; count++) await aComputation(stores.table, domain);
    await breakLists();
    await rebuild();
    expect(await check()).toEqual([]);
    expect(await contradictions()).toEqual([]);
    expect(await seen()).toMatchObject({ all: 4, created: 3, ofAlice: 4 });
  });

  it('deletes the nodes that a fold has written after another one had taken it for failed', async () => {
    await createInBulk(1_100);
    const stored = async () =>
      (await Promise.all(indexKeys.nodeShards(list.index).map((shard) => queryPartition(stores.table, shard)))).flat().length;
    let isFirst = true;
    const late = tableThrough(timed(stores.table), async (send, { input }) => {
      if (isFirst && JSON.stringify(input).includes('nodes#')) {
        isFirst = false;
        await foldAll();
      }
      return await send();
    });
    expect(await foldChanges(late, list.index, 1)).toMatchObject({ folded: 0 });
    const withLeft = await stored();
    await rebuild();
    expect([withLeft, await stored()]).toEqual([4, 2]);
    expect(await check()).toEqual([]);
  });

  it('needs none of the nodes that it replaces, although changes in the log would change them', async () => {
    await createInBulk(1_100);
    await foldAll();
    const changes = [memberChange(list, 1, { before: 'created', now: 'running', group: groupOfOwner('alice') })];
    const { Key, ExpressionAttributeValues: values } = logChange(list.index, 1, { version: 2, changes }).update ?? {};
    const entry = { ...(Key as Key), version: 2, s2: values?.[':step'] as string };
    await putItems(stores.table, [{ ...rowOf(1), status: 'running', owner: 'alice' }, entry]);
    const nodes = (await scan(stores.table)).filter(({ pk }) => String(pk).startsWith('nodes#'));
    await deleteItems(stores.table, nodes.map(keyOfItem));
    await rebuild();
    await foldAll();
    expect([nodes.length > 0, await check(), await contradictions()]).toEqual([true, [], []]);
  });

  it('reads all rows again after one that died when its trees were complete', async () => {
    await fill();
    const wait = async () => {
      if (await isCleaning()) throw new Error('died');
    };
    await expect(rebuildIndex({ ...stores.table, clock: { ...clock, wait } }, lists, () => undefined)).rejects.toThrow('died');
    expect(await headItem()).toMatchObject({ held: 'cleaning' });
    await breakLists();
    await rebuild();
    expect([await check(), await contradictions()]).toEqual([[], []]);
  });

  it('continues one that died among the rows, and begins anew if it is told to', async () => {
    await fill();
    const stop = () => {
      throw new Error('stopped');
    };
    const die = () => rebuildIndex(timed(stores.table), lists, stop);
    expect(await readProgress(stores.table, lists)).toBeUndefined();
    await expect(die()).rejects.toThrow('stopped');
    const begunAt = time;
    expect(await readProgress(stores.table, lists)).toMatchObject({ begunAt, list: { tree: 'r' }, number: 0 });
    await breakLists();
    const rows: number[] = [];
    await rebuildIndex(timed(stores.table), lists, (entered) => rows.push(entered));
    expect(rows[0]).toBe(1); // the run
    expect(await check()).not.toEqual([]);

    await expect(die()).rejects.toThrow('stopped');
    await breakLists();
    await rebuildIndex(timed(stores.table), lists, () => undefined, { isAnew: true });
    expect([await check(), await contradictions()]).toEqual([[], []]);
  });

  it('leaves a rebuild alone that another runner has begun while it cleans up', async () => {
    await fill();
    const stop = () => {
      throw new Error('stopped');
    };
    const beginAnother = async () => {
      if (!(await isCleaning())) return;
      await expect(rebuildIndex(timed(stores.table), lists, stop)).rejects.toThrow('stopped');
    };
    await rebuildIndex({ ...stores.table, clock: { ...clock, wait: beginAnother } }, lists, () => undefined);
    expect(await headItem()).toMatchObject({ held: 'building' });
    expect(await readProgress(stores.table, lists)).toMatchObject({ number: 0 });
    await rebuild();
    expect(await headItem()).not.toHaveProperty('held');
    expect([await check(), await contradictions()]).toEqual([[], []]);
  });

  it('counts a change once whose row shows some time before its log entry', async () => {
    await fill();
    const changes = [memberChange(list, 6, { now: 'created', group: groupOfOwner('alice') })];
    const { Key, ExpressionAttributeValues: values } = logChange(list.index, 6, { version: 1, changes }).update ?? {};
    const entry = { ...(Key as Key), version: 1, s1: values?.[':step'] as string };
    await putItem(stores.table, { ...(await getItem(stores.table, rowOf(3))), ...rowOf(6) });
    const totals: number[] = [];
    const wait = async (milliseconds: number) => {
      time += milliseconds;
      await putItem(stores.table, entry);
      totals.push((await seen()).all);
    };
    await rebuildIndex({ ...stores.table, clock: { ...clock, wait } }, lists, () => undefined);
    expect([...new Set(totals)]).toEqual([6]);
    expect([await check(), await contradictions()]).toEqual([[], []]);
  });

  it('is exact with more changes in the log than one fold takes', async () => {
    const rows = 2_100;
    await createInBulk(rows);
    const total = async () => (await readPage(stores.table, list, { limit: 1, offset: 0 })).total;
    const totals = new Set<number>();
    const wait = async (milliseconds: number) => {
      time += milliseconds;
      totals.add(await total());
    };
    await rebuildIndex({ ...stores.table, clock: { ...clock, wait } }, lists, () => undefined);
    expect([[...totals], await total()]).toEqual([[rows], rows]);
    expect(parseHead(await headItem()).folds.map(({ entries }) => entries.size)).toEqual([2_000, 100]);
    expect([await check(), await contradictions()]).toEqual([[], []]);
  });

  it(`is right whichever of three at the same time continues, and the others end (TEST_SEED=${seed})`, async () => {
    await createInBulk(2_100);
    for (let round = 0; round < amount({ sample: 1, full: 5 }); round++) {
      const outcomes = await Promise.allSettled([1, 2, 3].map(() => rebuild(slowTable())));
      const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
      expect(failures.filter((failure) => !(failure instanceof TakenOverError))).toEqual([]);
      expect(failures.length).toBeLessThan(3);
      expect([round, await check(), await contradictions()]).toEqual([round, [], []]);
      expect(await headItem()).not.toHaveProperty('held');
    }
  });

  it('is complete whichever call it dies at, once it is repeated', async () => {
    const prepare = async () => {
      await deleteItems(stores.table, (await scan(stores.table)) as unknown as Key[]);
      await fill();
      await breakLists();
    };
    const calls = await dieAtEveryCall(
      stores,
      prepare,
      () => rebuild(stores.mortal),
      async (_, death) => {
        await rebuild();
        await foldAll();
        expect([death, await contradictions(), await check()]).toEqual([death, [], []]);
      },
    );
    expect(calls).toBeGreaterThan(20);
  });
});

describe('a step of a build that another runner has taken over', () => {
  it.each([
    ['deletes its nodes if no step was recorded since', 0],
    ['keeps its nodes if a step was recorded, which may be this one', 1],
  ])('%s', async (_, stepsOfOther) => {
    const node = indexKeys.node(list.index, 'node');
    const progress = { stage: 'rows', list: 0, number: 0, edges: {}, steps: 0 } as const;
    const build = { id: 'build', head: 1, begun_at: time, written_as: '', ...progress, writing: [node.sk] };
    const own = await putBuild(stores.table, list.index, undefined, build);
    await putItem(stores.table, { ...node });
    await putBuild(stores.table, list.index, own, { ...own, steps: stepsOfOther });
    await expect(putBuild(stores.table, list.index, own, own)).rejects.toBeInstanceOf(TakenOverError);
    expect((await getItem(stores.table, node)) !== undefined).toBe(stepsOfOther > 0);
  });
});
