import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { groupOfOwner, indexedLists, memberChange, type IndexedList } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { nextNumber } from '../../../shared/table/writes.ts';
import { readPage } from '../../../shared/lists/read-page.ts';
import { keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { amount } from '../../support/amounts.ts';
import { beforeCall } from '../../support/interleave.ts';
import { type ProxiedTable, startProxiedTable, tableThrough } from '../../support/embedded-table.ts';

let proxied: ProxiedTable;
let list: IndexedList;
let lastDomain = 0;
beforeAll(async () => {
  proxied = await startProxiedTable();
});
beforeEach(() => {
  lastDomain += 1;
  list = indexedLists.computations(`d${lastDomain}`);
  proxied.proxy.inject(undefined);
  proxied.proxy.reset();
});
afterAll(() => proxied.stop());

const statuses = ['created', 'running', 'completed', 'failed'];

/** The versions of the rows of all domains. */
const versions = new Map<string, number>();

function changed(number: number, change: { before?: string; now?: string }) {
  const key = `${list.rows.pk} ${number}`;
  const version = (versions.get(key) ?? 0) + 1;
  versions.set(key, version);
  return logChange(list.index, number, { version, changes: [memberChange(list, number, { ...change, group: '-' })] });
}

function rowKey(number: number) {
  return keyToWrite(listKeys.row(list.rows, number));
}

async function add(table: Table, number: number, status: string): Promise<void> {
  const put = { Item: { ...rowKey(number), number, status }, ConditionExpression: 'attribute_not_exists(pk)' };
  await transact(table, [{ put }, changed(number, { now: status })]);
}

async function move(table: Table, number: number, before: string, now: string): Promise<void> {
  await transact(table, [{ put: { Item: { ...rowKey(number), number, status: now } } }, changed(number, { before, now })]);
}

async function remove(table: Table, number: number, before: string): Promise<void> {
  await transact(table, [{ delete: { Key: rowKey(number) } }, changed(number, { before })]);
}

async function pageNumbers(limit: number, offset: number, state?: string) {
  const { rows, total } = await readPage(proxied.table, list, { limit, offset, state });
  return { numbers: rows.map((row) => row['number']), total };
}

describe('nextNumber', () => {
  it('returns 1, then the numbers in order', async () => {
    expect([await nextNumber(proxied.direct, list.rows), await nextNumber(proxied.direct, list.rows)]).toEqual([1, 2]);
  });
});

describe('readPage', () => {
  it('returns no rows and a total of 0 for an empty list', async () => {
    expect(await pageNumbers(10, 0)).toEqual({ numbers: [], total: 0 });
    expect(await pageNumbers(10, 70, 'failed')).toEqual({ numbers: [], total: 0 });
  });

  it('returns the same pages as a plain array after random additions, moves and removals', async () => {
    const numbers = fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 1, max: 40_000 }));
    const change = fc.record({ number: numbers, status: fc.constantFrom(...statuses), removes: fc.boolean() });
    const page = fc.record({
      limit: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 100 })),
      offset: fc.integer({ min: 0, max: 130 }),
      state: fc.option(fc.constantFrom(...statuses), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 30, maxLength: 160, size: 'max' }),
        fc.array(page, { minLength: 25, maxLength: 25 }),
        async (changes, pages) => {
          lastDomain += 1;
          list = indexedLists.computations(`d${lastDomain}`);
          const model = new Map<number, string>();
          for (const { number, status, removes } of changes) {
            const from = model.get(number);
            if (from === undefined) await add(proxied.direct, number, status);
            else if (removes) await remove(proxied.direct, number, from);
            else await move(proxied.direct, number, from, status);
            if (from !== undefined && removes) model.delete(number);
            else model.set(number, status);
          }
          await foldChanges(proxied.direct, list.index, 1);
          for (const { limit, offset, state } of pages) {
            const matching = [...model].filter(([, status]) => state === undefined || status === state);
            const newestFirst = matching.map(([number]) => number).sort((a, b) => b - a);
            const { rows, total } = await readPage(proxied.direct, list, { limit, offset, state });
            expect(rows.map((row) => [row['number'], row['status']])).toEqual(
              newestFirst.slice(offset, offset + limit).map((number) => [number, model.get(number)]),
            );
            expect(total).toBe(newestFirst.length);
          }
        },
      ),
      { numRuns: amount({ sample: 4, full: 25 }) },
    );
  });

  it('returns exact totals after 200 parallel changes while every third transaction conflicts', async () => {
    proxied.proxy.inject({ kind: 'conflict', share: 1 / 3 });
    const numbers = await Promise.all(Array.from({ length: 200 }, () => nextNumber(proxied.table, list.rows)));
    await Promise.all(numbers.map((number) => add(proxied.table, number, 'created')));
    await Promise.all(
      numbers.filter((number) => number % 2 === 0).map((number) => move(proxied.table, number, 'created', 'failed')),
    );
    await Promise.all(numbers.filter((number) => number % 4 === 0).map((number) => remove(proxied.table, number, 'failed')));
    expect(proxied.proxy.faults()).toBeGreaterThan(100);
    expect((await pageNumbers(1, 100)).total).toBe(150);
    expect((await pageNumbers(1, 90, 'created')).total).toBe(100);
    expect(await pageNumbers(3, 47, 'failed')).toEqual({ numbers: [10, 6, 2], total: 50 });
  });

  it('counts a write once when its answer was lost and it is repeated', async () => {
    proxied.proxy.inject({ kind: 'lost-answer', share: 1 / 2, operations: ['TransactWriteItems'] });
    for (let number = 1; number <= 10; number++) await add(proxied.table, number, 'created');
    expect(proxied.proxy.faults()).toBeGreaterThan(4);
    expect(await pageNumbers(2, 60)).toEqual({ numbers: [], total: 10 });
  });

  it('returns the list unchanged when the transaction of a change fails', async () => {
    await add(proxied.direct, 1, 'created');
    await expect(add(proxied.direct, 1, 'created')).rejects.toThrow('condition');
    expect((await pageNumbers(1, 60)).total).toBe(1);
  });

  it('throws a TypeError for a state that the list does not have', async () => {
    expect(() => memberChange(list, 1, { now: 'unheard-of' })).toThrow(TypeError);
    await expect(readPage(proxied.direct, list, { limit: 1, offset: 0, state: 'unheard-of' })).rejects.toThrow(TypeError);
  });

  describe('of 150 members of which only the first and the last failed', () => {
    beforeEach(async () => {
      for (let number = 1; number <= 150; number++) {
        await add(proxied.direct, number * 100, number === 1 || number === 150 ? 'failed' : 'completed');
      }
      await foldChanges(proxied.direct, list.index);
    });

    it('reads the first page in one round trip, with or without a filter', async () => {
      expect(await pageNumbers(2, 0)).toEqual({ numbers: [15_000, 14_900], total: 150 });
      expect([proxied.proxy.sequentialCalls(), proxied.proxy.calls.length]).toEqual([1, 4]);
      proxied.proxy.reset();
      expect(await pageNumbers(2, 10, 'completed')).toEqual({ numbers: [13_900, 13_800], total: 148 });
      expect([proxied.proxy.sequentialCalls(), proxied.proxy.calls.length]).toEqual([1, 4]);
    });

    it('reads the index and the newest rows twice for 16 first pages at once', async () => {
      const read = () => readPage(proxied.table, list, { limit: 5, offset: 0 });
      const pages = await Promise.all(Array.from({ length: 16 }, read));
      const numbers = pages.map(({ rows }) => rows.map((row) => row['number']));
      expect(numbers).toStrictEqual(pages.map(() => [15_000, 14_900, 14_800, 14_700, 14_600]));
      expect(proxied.proxy.calls.length).toBe(2 * 4);
    });

    it('reads a deep page of a list with one node in two round trips', async () => {
      expect(await pageNumbers(100, 148)).toEqual({ numbers: [200, 100], total: 150 });
      expect(proxied.proxy.sequentialCalls()).toBe(2);
      expect(proxied.proxy.readUnits()).toBeLessThanOrEqual(7);
    });

    it('reads the page of a rare status without the members between', async () => {
      expect(await pageNumbers(10, 0, 'failed')).toEqual({ numbers: [15_000, 100], total: 2 });
      expect(proxied.proxy.sequentialCalls()).toBe(2);
      expect(proxied.proxy.readUnits()).toBeLessThan(10);
    });

    it('returns no rows and the total for an offset beyond the end, in one round trip', async () => {
      expect(await pageNumbers(10, 1_000_000)).toEqual({ numbers: [], total: 150 });
      expect(proxied.proxy.sequentialCalls()).toBe(1);
    });

    it('returns every member once over all pages', async () => {
      const seen: unknown[] = [];
      for (let offset = 0; offset < 150; offset += 7) seen.push(...(await pageNumbers(7, offset)).numbers);
      expect(seen).toEqual(Array.from({ length: 150 }, (_, index) => (150 - index) * 100));
    });
  });

  it('reads the first page of a status in one round trip, once it knows how far below the newest members are', async () => {
    for (let number = 1; number <= 60; number++) await add(proxied.direct, number, number <= 20 ? 'completed' : 'created');
    const newest = { numbers: [20, 19], total: 20 };
    expect(await pageNumbers(2, 0, 'completed')).toEqual(newest);
    expect(proxied.proxy.sequentialCalls()).toBe(2);
    proxied.proxy.reset();
    expect(await pageNumbers(2, 0, 'completed')).toEqual(newest);
    expect(proxied.proxy.sequentialCalls()).toBe(1);
    await move(proxied.direct, 50, 'created', 'completed');
    expect(await pageNumbers(2, 0, 'completed')).toEqual({ numbers: [50, 20], total: 21 });
    expect(await pageNumbers(2, 0, 'running')).toEqual({ numbers: [], total: 0 });
  });

  it('contains a row that comes into the state after it was read ahead and before the index', async () => {
    await add(proxied.direct, 1, 'completed');
    await add(proxied.direct, 2, 'running');
    const moved = Promise.withResolvers<undefined>();
    let rowsRead = 0;
    const rowsFirst = tableThrough(proxied.direct, async (send, { input }) => {
      const isOfRows = input.ExpressionAttributeValues?.[':pk'] === list.rows.pk;
      if (!isOfRows) await moved.promise;
      const answer = await send();
      if (isOfRows && ++rowsRead === 1) {
        await move(proxied.direct, 2, 'running', 'completed');
        moved.resolve(undefined);
      }
      return answer;
    });
    const { rows, total } = await readPage(rowsFirst, list, { limit: 10, offset: 0, state: 'completed' });
    expect([rows.map(({ number, status }) => [number, status]), total]).toEqual([
      [
        [2, 'completed'],
        [1, 'completed'],
      ],
      2,
    ]);
  });

  it('leaves out a row that moves to another group before it is read', async () => {
    const put = (number: number, owner: string) => ({
      put: { Item: { ...rowKey(number), number, status: 'created', owner } },
    });
    const logged = (number: number, version: number, change: { before?: string; group: string; groupBefore?: string }) =>
      logChange(list.index, number, { version, changes: [memberChange(list, number, { now: 'created', ...change })] });
    const [group, groupOfBob] = [groupOfOwner('alice'), groupOfOwner('bob')];
    for (const number of [1, 1_000]) await transact(proxied.direct, [put(number, 'alice'), logged(number, 1, { group })]);
    beforeCall(proxied.table, 'BatchGet', () =>
      transact(proxied.direct, [
        put(1_000, 'bob'),
        logged(1_000, 2, { before: 'created', group: groupOfBob, groupBefore: group }),
      ]),
    );
    const page = () => readPage(proxied.table, list, { limit: 10, offset: 0, group });
    expect((await page()).rows.map(({ number, owner }) => [number, owner])).toEqual([[1, 'alice']]);
    expect((await page()).total).toBe(1);
  });

  it('reads a list whose members have no states', async () => {
    const linked = indexedLists.linkedComputations('an-asset');
    const change = { version: 1, changes: [memberChange(linked, 7, { now: 'all' })] };
    const Item = { ...keyToWrite(listKeys.row(linked.rows, 7)), id: 'r' };
    await transact(proxied.direct, [{ put: { Item } }, logChange(linked.index, 7, change)]);
    const page = await readPage(proxied.direct, linked, { limit: 1, offset: 0 });
    expect([page.rows.map((row) => row['id']), page.total]).toEqual([['r'], 1]);
  });
});
