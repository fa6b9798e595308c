import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildTree } from '../../../tools/bench/lists/build-tree.ts';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { foldDueLists } from '../../../shared/lists/fold-due.ts';
import { headOfTrees } from '../../../shared/lists/build-trees.ts';
import { emptyHead, encodeHead, parseHead } from '../../../shared/lists/head.ts';
import { indexedLists, memberChange } from '../../../shared/lists/indexed-list.ts';
import { logChange, nameOfResource, type Step } from '../../../shared/lists/log.ts';
import { readPage } from '../../../shared/lists/read-page.ts';
import { dueFoldKeys, indexKeys, type Key } from '../../../shared/table/keys.ts';
import { getItem, queryPartition, type Table } from '../../../shared/table/table.ts';
import { deleteItems, putItem, putItems } from '../../../shared/table/writes.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
let table: Table;
let time = Date.parse('2026-01-01T00:00:00Z');
let lastDomain = 0;
let list = indexedLists.assets('d0');
beforeAll(async () => {
  embedded = await startEmbeddedTable();
  table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
});
beforeEach(() => {
  lastDomain += 1;
  list = indexedLists.assets(`d${lastDomain}`);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});
afterAll(() => embedded.stop());

async function create(from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number++) {
    await transact(table, [
      logChange(list.index, number, { version: 1, changes: [memberChange(list, number, { now: 'dataset' })] }),
    ]);
  }
}

const createInBulk = (from: number, to: number) => changeInBulk(from, to, { now: 'dataset' });

async function changeInBulk(
  from: number,
  to: number,
  change: { before?: 'dataset'; now: 'dataset' | 'algorithm' },
): Promise<void> {
  const items = Array.from({ length: to - from + 1 }, (_, at) => {
    const number = from + at;
    const step = { version: 1, changes: [memberChange(list, number, change)] };
    const { Key, ExpressionAttributeValues: values } = logChange(list.index, number, step).update ?? {};
    return { ...(Key as Key), version: 1, s1: values?.[':step'] as string };
  });
  const parts = Array.from({ length: 8 }, (_, part) => items.filter((_, at) => at % 8 === part));
  await Promise.all(parts.map((part) => putItems(table, part)));
}

/** Logs a computation that enters a state on a day, or none. */
async function enter(number: number, entered?: { day: number; state: number }): Promise<void> {
  const { index } = indexedLists.computations('d-days');
  const step = { version: 1, changes: [memberChange(indexedLists.computations('d-days'), number, { now: 'created' })] };
  await transact(table, [logChange(index, number, { ...step, ...(entered && { entered }) })]);
}

const headItem = () => getItem(table, indexKeys.head(list.index));
const inLog = async () => (await Promise.all(indexKeys.logs(list.index).map((log) => queryPartition(table, log)))).flat().length;
const mark = () => getItem(table, dueFoldKeys.mark(list.index));

describe('the scheduled fold', () => {
  it('folds the remaining changes after other folds, deletes their leftovers, and removes the mark of the list at the end', async () => {
    await create(1, 40);
    await foldChanges(table, list.index);
    await create(41, 45);
    expect([await inLog(), await mark()]).toEqual([45, expect.anything()]);
    const fold = async (minutes: number) => {
      for (let minute = 0; minute < minutes; minute++) {
        expect(await foldDueLists(table)).toBe(1);
        time += 61_000;
      }
    };
    // Fewer than 64 changes wait for ten minutes.
    await fold(10);
    expect([await inLog(), await mark()]).toEqual([5, expect.anything()]);
    await fold(4);
    expect([await inLog(), await mark()]).toEqual([0, undefined]);
    expect(await getItem(table, indexKeys.head(list.index))).toMatchObject({
      totals: { a: [0, 0, 45, 0, 0, 0, 0, 0] },
      folds: [],
    });
    expect(await foldDueLists(table)).toBe(0);
  });

  it('folds a single change at once where each read begins again', async () => {
    const left = async (step: Partial<Step>) => {
      await transact(table, [
        logChange(list.index, 2, { version: 1, changes: [memberChange(list, 2, { now: 'dataset' })], ...step }),
      ]);
      await putItem(table, { ...dueFoldKeys.mark(list.index), marked_at: time });
      await foldDueLists(table);
      return parseHead(await headItem()).folds.length === 0;
    };
    await putItem(table, { ...indexKeys.head(list.index), ...encodeHead({ ...emptyHead, version: 1 }) });
    expect(await left({})).toBe(true);
    expect(await left({ after: { name: nameOfResource(1), version: 1 } })).toBe(false);
    await deleteItems(table, [dueFoldKeys.mark(list.index)]);
  });

  it("keeps today's statistics in the head, by the table's clock", async () => {
    const { index } = indexedLists.computations('d-days');
    const day = Math.floor(time / 86_400_000);
    await enter(1, { day, state: 1 });
    await foldChanges(table, index, 1);
    await enter(2);
    await foldChanges(table, index, 1);
    const { days } = parseHead(await getItem(table, indexKeys.head(index)));
    expect(days).toEqual({ [day]: { counts: [0, 1, 0, 0, 0, 0, 0, 0] } });
  });

  it('folds what a look leaves in a list that has no mark, from 64 changes on', async () => {
    const size = 150_000;
    const members = Array.from({ length: size }, (_, at) => ({ group: '', number: at + 1, state: 2 }));
    const edge = await buildTree(table, list.index, members);
    const { head, roots } = headOfTrees(list.index, emptyHead, [['a', edge]], 'filled');
    await putItems(table, [...roots, { ...indexKeys.head(list.index), ...encodeHead(head) }]);
    const change = { before: 'dataset', now: 'algorithm' } as const;
    await changeInBulk(1, 63, change);
    await foldChanges(table, list.index);
    expect(await mark()).toBeUndefined();
    await changeInBulk(64, 100, change);
    await foldChanges(table, list.index);
    expect([await inLog(), await mark()]).toEqual([100, expect.anything()]);
    for (let minute = 0; minute < 4; minute++) {
      await foldDueLists(table);
      time += 61_000;
    }
    expect([await inLog(), await mark()]).toEqual([0, undefined]);
    expect(await headItem()).toMatchObject({ totals: { a: [0, 100, size - 100, 0, 0, 0, 0, 0] } });
  });

  it('keeps the mark of a list that a fold has just set, or sets at the same time', async () => {
    await putItem(table, { ...dueFoldKeys.mark(list.index), marked_at: time });
    await foldDueLists(table);
    expect(await mark()).toBeDefined();
    time += 61_000;
    await foldDueLists(table);
    expect(await mark()).toBeUndefined();
  });

  it('folds a long log in parts, between which every total is exact', async () => {
    const counted = async () => ((await headItem())?.['totals'] as { a: number[] }).a[2];
    const total = async () => (await readPage(table, list, { limit: 1, offset: 0 })).total;
    await createInBulk(1, 2_100);
    await foldChanges(table, list.index, 1);
    expect([await counted(), await total()]).toEqual([2_000, 2_100]);
    await createInBulk(2_101, 4_200);
    await foldDueLists(table);
    expect([await counted(), await total()]).toEqual([4_200, 4_200]);
    expect(parseHead(await headItem()).folds.map(({ entries }) => entries.size)).toEqual([2_000, 2_000, 200]);
    await deleteItems(table, [dueFoldKeys.mark(list.index)]);
  });

  it('folds the other lists if one fails, names that one in the log, and then throws', async () => {
    await create(1, 3);
    await putItem(table, { ...dueFoldKeys.mark(list.index), marked_at: time - 600_000 });
    const unknown = { scope: 'no-list#d', logShards: 1 };
    await putItem(table, { ...dueFoldKeys.mark(unknown), marked_at: time });
    const lines: string[] = [];
    vi.stubEnv('LOG_LEVEL', 'ERROR');
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    await expect(foldDueLists(table)).rejects.toThrow('1 of 2 lists were not folded.');
    const [failure, ...others] = lines.map((line) => JSON.parse(line) as object);
    expect(failure).toMatchObject({
      message: 'The changes of a list were not folded.',
      index: 'no-list#d',
      error: { message: 'No list has the index no-list#d.' },
    });
    expect(others).toEqual([]);
    expect(await getItem(table, indexKeys.head(list.index))).toMatchObject({ totals: { a: [0, 0, 3, 0, 0, 0, 0, 0] } });
    await deleteItems(table, [dueFoldKeys.mark(unknown)]);
  });

  it('reports the changes of a list that is held while its index is rebuilt', async () => {
    await putItem(table, { ...indexKeys.head(list.index), ...encodeHead({ ...emptyHead, version: 1, held: 'building' }) });
    await create(1, 40);
    await foldChanges(table, list.index);
    const lines: string[] = [];
    vi.stubEnv('METRICS_NAMESPACE', 'Test');
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    await foldDueLists(table);
    expect(await mark()).toBeDefined();
    expect(await inLog()).toBe(40);
    expect(lines.join('\n')).toContain('"Waiting":40');
  });
});
