import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTree } from '../../../bench/lists/build-tree.ts';
import { checkPage, checkTotals } from '../../../shared/lists/check-list.ts';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { parseHead } from '../../../shared/lists/head.ts';
import { indexedLists, memberChange, stateOf, type IndexedList } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { readPage } from '../../../shared/lists/read-page.ts';
import { rebuildIndex } from '../../../shared/lists/rebuild.ts';
import { indexKeys } from '../../../shared/table/index-keys.ts';
import { keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import { getItem, type Table } from '../../../shared/table/table.ts';
import { putItem, putItems } from '../../../shared/table/writes.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
let table: Table;
let time = Date.parse('2026-01-01T00:00:00Z');
beforeAll(async () => {
  embedded = await startEmbeddedTable();
  const wait = async (milliseconds: number) => void (time += milliseconds);
  table = { ...embedded.table, clock: { now: () => time, wait } };
});
afterAll(() => embedded.stop());

const limit = 10;
/** Larger lists have rows only where pages are read. */
const withAllRows = 3_000;
/** Gaps between the numbers make the members take more room. */
const numberAt = (index: number) => (index + 1) * 3;

function aRow(list: IndexedList, number: number, status: string) {
  return { ...keyToWrite(listKeys.row(list.rows, number)), number, status };
}

/** Writes a list whose head has neither `branches` nor `held`: the inner node of the newest members is stored with the root. */
async function anEarlierList(domain: string, { size, levels }: { size: number; levels: number }): Promise<IndexedList> {
  const listed = indexedLists.computations(domain);
  const list: IndexedList = { ...listed, index: { ...listed.index, trees: { [listed.tree]: undefined } } };
  const { index, tree } = list;
  const state = stateOf(list, 'created');
  const members = Array.from({ length: size }, (_, at) => ({ group: '', number: numberAt(at), state }));
  const isRead = (_: unknown, at: number) => at < 20 || at >= size - 20 || Math.abs(at - size / 2) < 40;
  const withRow = size <= withAllRows ? members : members.filter(isRead);
  await putItems(
    table,
    withRow.map(({ number }) => aRow(list, number, 'created')),
  );
  const edge = await buildTree(table, index, members);
  const leaf = edge.pop();
  expect(edge).toHaveLength(levels - 1);
  await putItem(table, { ...indexKeys.root(index, tree, 'earlier'), edge });
  const totals = Array.from({ length: state + 1 }, (_, at) => (at === state ? size : 0));
  const head = { totals: { [tree]: totals }, leaves: { [tree]: leaf }, roots: { [tree]: 'earlier' }, days: {}, folds: [] };
  await putItem(table, { ...indexKeys.head(index), version: 7, ...head });
  return list;
}

async function headOf({ index }: IndexedList) {
  return await getItem(table, indexKeys.head(index));
}

/** Checks pages of the newest, the oldest and those in the middle, and the total. @param numbers newest first */
async function expectPages(list: IndexedList, numbers: number[]): Promise<void> {
  for (const offset of [0, Math.floor(numbers.length / 2), numbers.length - limit]) {
    const { rows, total } = await readPage(table, list, { limit, offset });
    expect([offset, total]).toEqual([offset, numbers.length]);
    expect(rows.map(({ number }) => number)).toEqual(numbers.slice(offset, offset + limit));
  }
}

async function differencesOf(list: IndexedList): Promise<unknown[]> {
  const found: unknown[] = [...(await checkTotals(table, list))];
  for (let from: number | undefined = 1; from !== undefined;) {
    const { mismatches, next } = await checkPage(table, list, from);
    found.push(...mismatches);
    from = next;
  }
  return found;
}

/** Adds members at the end, deletes the first ones, and moves one in the middle. @returns the numbers, newest first */
async function change(list: IndexedList, size: number): Promise<number[]> {
  const put = (number: number, status: string) => ({ put: { Item: aRow(list, number, status) } });
  const step = (number: number, version: number, states: { before?: string; now?: string }) =>
    logChange(list.index, number, { version, changes: [memberChange(list, number, states)] });
  for (let at = size; at < size + 40; at++) {
    await transact(table, [put(numberAt(at), 'created'), step(numberAt(at), 1, { now: 'created' })]);
  }
  for (let at = 0; at < 5; at++) {
    const Key = keyToWrite(listKeys.row(list.rows, numberAt(at)));
    await transact(table, [{ delete: { Key } }, step(numberAt(at), 2, { before: 'created' })]);
  }
  const moved = numberAt(Math.floor(size / 2));
  await transact(table, [put(moved, 'running'), step(moved, 2, { before: 'created', now: 'running' })]);
  return Array.from({ length: size + 35 }, (_, at) => numberAt(at + 5)).reverse();
}

async function foldAll(list: IndexedList): Promise<void> {
  for (let fold = 0; fold < 4; fold++) {
    await foldChanges(table, list.index, 1);
    time += 5_000;
  }
}

describe.each([
  { levels: 2, size: withAllRows },
  { levels: 3, size: 1_000_000 },
])('the head of an earlier version, of a tree with $levels levels', ({ levels, size }) => {
  it('is read with changes on top, and folds carry it on in the form of today', async () => {
    const list = await anEarlierList(`levels-${levels}`, { size, levels });
    await expectPages(list, Array.from({ length: size }, (_, at) => numberAt(at)).reverse());
    const numbers = await change(list, size);
    await expectPages(list, numbers);
    expect(await headOf(list)).not.toHaveProperty('branches');
    await foldAll(list);
    await expectPages(list, numbers);
    expect(parseHead(await headOf(list))).toMatchObject({ branches: { [list.tree]: expect.any(Uint8Array) }, folds: [] });
    expect(await getItem(table, indexKeys.root(list.index, list.tree, 'earlier'))).toBeUndefined();
    expect((await readPage(table, list, { limit, offset: 0, state: 'running' })).total).toBe(1);
    if (size <= withAllRows) expect(await differencesOf(list)).toEqual([]);
  });
});

describe('the head of an earlier version', () => {
  it('stops folds while its index is rebuilt, and allows folds and another rebuild after that', async () => {
    const size = withAllRows;
    const list = await anEarlierList('rebuilt', { size, levels: 2 });
    const numbers = await change(list, size);
    await rebuildIndex(table, [list], () => undefined);
    expect(await headOf(list)).not.toHaveProperty('held');
    await expectPages(list, numbers);
    await foldAll(list);
    await expectPages(list, numbers);
    // Its tree has no root of its own: the head has the whole right edge.
    expect(parseHead(await headOf(list)).roots).toEqual({});
    await rebuildIndex(table, [list], () => undefined);
    await expectPages(list, numbers);
    expect(await differencesOf(list)).toEqual([]);
  });
});
