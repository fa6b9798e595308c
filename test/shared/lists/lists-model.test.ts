import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { groupOfOwner, indexedLists, stateOf, type IndexedList } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { readPage, type PageRequest } from '../../../shared/lists/read-page.ts';
import { indexKeys, keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import { queryPartition, type Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
let time = Date.parse('2026-01-01T00:00:00Z');
let table: Table;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
  table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
});
afterAll(() => embedded.stop());

const statuses = ['created', 'running', 'completed', 'failed'] as const;
type Status = (typeof statuses)[number];

interface Row {
  owner: string;
  status: Status | undefined;
  version: number;
}

/** A list of computations without journals and runs: rows that come, move and go, and what a plain map says of them. */
class Computations {
  readonly list: IndexedList;
  readonly rows = new Map<number, Row>();
  private readonly table: Table;

  constructor(table: Table, domain: string) {
    this.table = table;
    this.list = indexedLists.computations(domain);
  }

  async enter(number: number, status: Status | undefined, owner: string): Promise<void> {
    const row = this.rows.get(number) ?? { owner, status: undefined, version: 0 };
    if (row.status === status) return;
    const version = row.version + 1;
    const Key = keyToWrite(listKeys.row(this.list.rows, number));
    const change = {
      list: this.list.tree,
      number,
      before: row.status ? stateOf(this.list, row.status) : 0,
      now: status ? stateOf(this.list, status) : 0,
      group: groupOfOwner(row.owner),
    };
    await transact(this.table, [
      status ? { put: { Item: { ...Key, number, status, owner: row.owner } } } : { delete: { Key } },
      logChange(this.list.index, number, { version, changes: [change] }),
    ]);
    this.rows.set(number, { ...row, status, version });
  }

  page({ limit, offset, state, owner }: Omit<PageRequest, 'group'> & { owner?: string | undefined }) {
    const numbers = [...this.rows]
      .filter(([, row]) => row.status && (state === undefined || row.status === state))
      .filter(([, row]) => owner === undefined || row.owner === owner)
      .map(([number]) => number)
      .sort((a, b) => b - a);
    return { numbers: numbers.slice(offset, offset + limit), total: numbers.length };
  }

  async readPage({ owner, ...request }: Omit<PageRequest, 'group'> & { owner?: string | undefined }) {
    const group = owner === undefined ? undefined : groupOfOwner(owner);
    const { rows, total } = await readPage(this.table, this.list, { ...request, group });
    return { numbers: rows.map((row) => row['number']), total };
  }
}

const owners = ['ann', 'bob'];
const aChange = fc.record({
  does: fc.constant('change' as const),
  number: fc.integer({ min: 1, max: 60 }),
  status: fc.option(fc.constantFrom(...statuses), { nil: undefined }),
  owner: fc.constantFrom(...owners),
});
const aFold = fc.record({ does: fc.constant('fold' as const), seconds: fc.constantFrom(0, 1, 5) });
const steps = fc.array(fc.oneof({ weight: 6, arbitrary: aChange }, { weight: 1, arbitrary: aFold }), { maxLength: 60 });
const requests = fc.array(
  fc.record({
    limit: fc.integer({ min: 1, max: 20 }),
    offset: fc.integer({ min: 0, max: 40 }),
    state: fc.option(fc.constantFrom(...statuses), { nil: undefined }),
    owner: fc.option(fc.constantFrom(...owners), { nil: undefined }),
  }),
  { minLength: 3, maxLength: 3 },
);

let lastDomain = 0;

describe('lists', () => {
  it('return the pages and totals of a plain map after random changes with folds in between', async () => {
    await fc.assert(
      fc.asyncProperty(steps, requests, async (all, pages) => {
        const computations = new Computations(table, `d${(lastDomain += 1)}`);
        for (const step of all) {
          if (step.does === 'change') await computations.enter(step.number, step.status, step.owner);
          else {
            time += step.seconds * 1_000;
            await foldChanges(table, computations.list.index, 1);
          }
          for (const page of pages) expect(await computations.readPage(page)).toEqual(computations.page(page));
        }
      }),
      { numRuns: 8 },
    );
  });

  it('leave nothing in the log, and no old node, once folds have become old', async () => {
    const computations = new Computations(table, 'cleared');
    const { index } = computations.list;
    for (let number = 1; number <= 40; number++) await computations.enter(number, 'created', 'ann');
    await foldChanges(table, index, 1);
    for (let number = 1; number <= 40; number++) await computations.enter(number, 'completed', 'ann');
    for (let round = 0; round < 4; round++) {
      await foldChanges(table, index, 1);
      time += 5_000;
    }
    const logs = await Promise.all(indexKeys.logs(index).map((log) => queryPartition(table, log)));
    expect(logs.flat()).toEqual([]);
    const items = await queryPartition(table, indexKeys.partition(index));
    expect(items.map(({ sk }) => String(sk).split('#')[0])).toEqual(['head', 'root']);
    expect(await computations.readPage({ limit: 5, offset: 30, state: 'completed' })).toEqual({
      numbers: [10, 9, 8, 7, 6],
      total: 40,
    });
  });
});
