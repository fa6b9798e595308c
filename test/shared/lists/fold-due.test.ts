import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { foldDueLists } from '../../../shared/lists/fold-due.ts';
import { indexedLists, memberChange } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { indexKeys } from '../../../shared/table/index-keys.ts';
import { dueFoldKeys } from '../../../shared/table/keys.ts';
import { getItem, queryPartition, type Table } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
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
afterAll(() => embedded.stop());

async function create(from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number++) {
    await transact(table, [
      logChange(list.index, number, { version: 1, changes: [memberChange(list, number, { now: 'dataset' })] }),
    ]);
  }
}

const inLog = async () => (await Promise.all(indexKeys.logs(list.index).map((log) => queryPartition(table, log)))).flat().length;
const mark = () => getItem(table, dueFoldKeys.mark(list.index));

describe('the scheduled fold', () => {
  it('folds the remaining changes after other folds, deletes their leftovers, and removes the mark of the list at the end', async () => {
    await create(1, 40);
    await foldChanges(table, list.index);
    await create(41, 45);
    expect([await inLog(), await mark()]).toEqual([45, expect.anything()]);
    for (let minute = 0; minute < 4; minute++) {
      expect(await foldDueLists(table)).toBe(1);
      time += 61_000;
    }
    expect([await inLog(), await mark()]).toEqual([0, undefined]);
    expect(await getItem(table, indexKeys.head(list.index))).toMatchObject({
      totals: { a: [0, 0, 45, 0, 0, 0, 0, 0] },
      folds: [],
    });
    expect(await foldDueLists(table)).toBe(0);
  });

  it('keeps the mark of a list that a fold has just set, or sets at the same time', async () => {
    await putItem(table, { ...dueFoldKeys.mark(list.index), marked_at: time });
    await foldDueLists(table);
    expect(await mark()).toBeDefined();
    time += 61_000;
    await foldDueLists(table);
    expect(await mark()).toBeUndefined();
  });

  it('folds the other lists if one fails, and then throws', async () => {
    await create(1, 3);
    await putItem(table, { ...dueFoldKeys.mark(list.index), marked_at: time });
    const unknown = { scope: 'no-list#d', logShards: 1 };
    await putItem(table, { ...dueFoldKeys.mark(unknown), marked_at: time });
    await expect(foldDueLists(table)).rejects.toThrow('1 of 2 lists were not folded.');
    expect(await getItem(table, indexKeys.head(list.index))).toMatchObject({ totals: { a: [0, 0, 3, 0, 0, 0, 0, 0] } });
  });
});
