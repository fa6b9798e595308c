import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keyToWrite, listKeys, lists, numbersPerLeaf, numbersPerMid, type List } from '../../../shared/table/keys.ts';
import { addToList, moveInList, nextNumber, readPage, removeFromList } from '../../../shared/table/listing.ts';
import { type Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { amount } from '../../support/amounts.ts';
import { startProxiedTable, type ProxiedTable } from '../../support/proxied-table.ts';

let proxied: ProxiedTable;
let list: List;
let lastDomain = 0;
beforeAll(async () => {
  proxied = await startProxiedTable();
});
beforeEach(() => {
  lastDomain += 1;
  list = lists.computations(`d${lastDomain}`);
  proxied.proxy.inject(undefined);
  proxied.proxy.reset();
});
afterAll(() => proxied.stop());

const statuses = ['created', 'running', 'completed', 'failed'];

function putRow(number: number, status: string) {
  return {
    put: { Item: { ...keyToWrite(listKeys.row(list, number)), number, status }, ConditionExpression: 'attribute_not_exists(pk)' },
  };
}

async function add(table: Table, number: number, status: string): Promise<void> {
  await transact(table, [putRow(number, status), ...addToList(list, number, status)]);
}

async function move(table: Table, number: number, from: string, to: string): Promise<void> {
  await transact(table, [
    { put: { Item: { ...keyToWrite(listKeys.row(list, number)), number, status: to } } },
    ...moveInList(list, number, from, to),
  ]);
}

async function remove(table: Table, number: number, status: string): Promise<void> {
  await transact(table, [{ delete: { Key: keyToWrite(listKeys.row(list, number)) } }, ...removeFromList(list, number, status)]);
}

async function pageNumbers(limit: number, offset: number, facet?: string) {
  const { rows, total } = await readPage(proxied.table, list, { limit, offset, facet });
  return { numbers: rows.map((row) => row['number']), total };
}

describe('nextNumber', () => {
  it('returns 1, then the numbers in order', async () => {
    expect([await nextNumber(proxied.direct, list), await nextNumber(proxied.direct, list)]).toEqual([1, 2]);
  });
});

describe('readPage', () => {
  it('returns no rows and a total of 0 for an empty list', async () => {
    expect(await pageNumbers(10, 0)).toEqual({ numbers: [], total: 0 });
    expect(await pageNumbers(10, 70, 'failed')).toEqual({ numbers: [], total: 0 });
  });

  it('returns the same pages as a plain array after random additions, moves and removals', async () => {
    const numbers = fc.oneof(
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: numbersPerLeaf - 5, max: numbersPerLeaf + 5 }),
      fc.integer({ min: numbersPerMid - 5, max: numbersPerMid + 5 }),
      fc.integer({ min: 1, max: 5 * numbersPerMid }),
    );
    const change = fc.record({ number: numbers, status: fc.constantFrom(...statuses), removes: fc.boolean() });
    const page = fc.record({
      limit: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 100 })),
      offset: fc.integer({ min: 0, max: 130 }),
      facet: fc.option(fc.constantFrom(...statuses), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 30, maxLength: 160, size: 'max' }),
        fc.array(page, { minLength: 25, maxLength: 25 }),
        async (changes, pages) => {
          lastDomain += 1;
          list = lists.computations(`d${lastDomain}`);
          const model = new Map<number, string>();
          for (const { number, status, removes } of changes) {
            const from = model.get(number);
            if (from === undefined) await add(proxied.direct, number, status);
            else if (removes) await remove(proxied.direct, number, from);
            else await move(proxied.direct, number, from, status);
            if (from !== undefined && removes) model.delete(number);
            else model.set(number, status);
          }
          for (const { limit, offset, facet } of pages) {
            const matching = [...model].filter(([, status]) => facet === undefined || status === facet);
            const newestFirst = matching.map(([number]) => number).sort((a, b) => b - a);
            const { rows, total } = await readPage(proxied.direct, list, { limit, offset, facet });
            expect(rows.map((row) => [row['number'], row['status']])).toEqual(
              newestFirst.slice(offset, offset + limit).map((number) => [number, model.get(number)]),
            );
            expect(total).toBe(newestFirst.length);
          }
        },
      ),
      { numRuns: amount({ sample: 6, full: 25 }) },
    );
  });

  it('returns exact totals after 200 parallel changes while every third transaction conflicts', async () => {
    proxied.proxy.inject({ kind: 'conflict', share: 1 / 3 });
    const numbers = await Promise.all(Array.from({ length: 200 }, () => nextNumber(proxied.table, list)));
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

  it('is not changed by a move of a member to its own facet', () => {
    expect(moveInList(list, 1, 'failed', 'failed')).toEqual([]);
  });

  it('throws a TypeError for a facet that the list does not have', async () => {
    expect(() => addToList(list, 1, 'unheard-of')).toThrow(TypeError);
    await expect(readPage(proxied.direct, list, { limit: 1, offset: 0, facet: 'unheard-of' })).rejects.toThrow(TypeError);
  });

  describe('of 150 members of which only the first and the last failed', () => {
    beforeEach(async () => {
      for (let number = 1; number <= 150; number++) {
        await add(proxied.direct, number * 100, number === 1 || number === 150 ? 'failed' : 'completed');
      }
    });

    it('reads the first page in one round trip, with or without a filter', async () => {
      expect(await pageNumbers(2, 0)).toEqual({ numbers: [15_000, 14_900], total: 150 });
      expect([proxied.proxy.sequentialCalls(), proxied.proxy.calls.length]).toEqual([1, 2]);
      proxied.proxy.reset();
      expect(await pageNumbers(2, 10, 'completed')).toEqual({ numbers: [13_900, 13_800], total: 148 });
      expect([proxied.proxy.sequentialCalls(), proxied.proxy.calls.length]).toEqual([1, 2]);
    });

    it('reads a deep page in three calls', async () => {
      expect(await pageNumbers(100, 148)).toEqual({ numbers: [200, 100], total: 150 });
      expect(proxied.proxy.calls.map((call) => call.operation)).toEqual(['Query', 'BatchGetItem', 'Query']);
      expect(proxied.proxy.readUnits()).toBeLessThanOrEqual(4);
    });

    it('reads the page of a rare status without the members between', async () => {
      expect(await pageNumbers(10, 0, 'failed')).toEqual({ numbers: [15_000, 100], total: 2 });
      expect(proxied.proxy.sequentialCalls()).toBe(3);
      expect(proxied.proxy.readUnits()).toBeLessThan(10);
    });

    it('returns no rows and the total for an offset beyond the end, in one call', async () => {
      expect(await pageNumbers(10, 1_000_000)).toEqual({ numbers: [], total: 150 });
      expect(proxied.proxy.calls).toHaveLength(1);
    });

    it('returns every member once over all pages', async () => {
      const seen: unknown[] = [];
      for (let offset = 0; offset < 150; offset += 7) seen.push(...(await pageNumbers(7, offset)).numbers);
      expect(seen).toEqual(Array.from({ length: 150 }, (_, index) => (150 - index) * 100));
    });
  });

  it('reads a list without a filter', async () => {
    const runs = lists.runs('d');
    await transact(proxied.direct, [{ put: { Item: { ...keyToWrite(listKeys.row(runs, 7)), id: 'r' } } }, ...addToList(runs, 7)]);
    const page = await readPage(proxied.direct, runs, { limit: 1, offset: 0 });
    expect([page.rows.map((row) => row['id']), page.total]).toEqual([['r'], 1]);
  });
});
