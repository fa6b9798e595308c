import { beforeEach, describe, expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { indexedLists, type IndexedList } from '../../../shared/lists/indexed-list.ts';
import { lastVersion, logChange, nameOfResource, type Step } from '../../../shared/lists/log.ts';
import { readWholeLog } from '../../../shared/lists/unfolded-entries.ts';
import { readHead } from '../../../shared/lists/head.ts';
import { indexKeys } from '../../../shared/table/keys.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);
let list: IndexedList;
let lastDomain = 0;
beforeEach(() => {
  lastDomain += 1;
  list = indexedLists.runs(`d${lastDomain}`);
});

const change = (before: number, now: number) => ({ list: 'r', number: 3, before, now, group: '2' });
const ended: Step = { version: 3, changes: [change(2, 4)] };
const purged: Step = {
  version: lastVersion,
  changes: [change(4, 0)],
  after: { name: nameOfResource(2), version: 3 },
};

/** Reads the whole log. `act` is done after its first partition was read, and before the second one is. */
async function readLogAround(act: () => Promise<unknown>) {
  const { table } = embedded;
  const [first, second] = indexKeys.logs(list.index);
  const firstIsRead = Promise.withResolvers<unknown>();
  const readsOfSecond: unknown[] = [];
  const torn = tableThrough(table, async (send, { input }) => {
    const partition = input.ExpressionAttributeValues?.[':pk']; // of a query
    if (partition === second && readsOfSecond.push(partition) === 1) {
      await firstIsRead.promise;
      await act();
    }
    const answer = await send();
    if (partition === first) firstIsRead.resolve(answer);
    return answer;
  });
  const entries = await readWholeLog(torn, list.index, await readHead(table, list.index));
  return { entries: entries.map(({ name }) => name).sort(), reads: readsOfSecond.length };
}

describe('the whole log', () => {
  it('is read again when its parts are of two moments, and one has a step that comes after one of the other', async () => {
    const { table } = embedded;
    const read = await readLogAround(async () => {
      await transact(table, [logChange(list.index, 2, ended)]);
      await transact(table, [logChange(list.index, 3, purged, 'run-3')]);
    });
    expect(read).toStrictEqual({ entries: [nameOfResource(2), 'run-3'].sort(), reads: 2 });
  });

  it('is read once when nothing is missing', async () => {
    const { table } = embedded;
    await transact(table, [logChange(list.index, 2, ended), logChange(list.index, 3, purged, 'run-3')]);
    expect(await readLogAround(() => Promise.resolve())).toStrictEqual({
      entries: [nameOfResource(2), 'run-3'].sort(),
      reads: 1,
    });
  });

  it('is taken as it is when the second read lacks the earlier step too, because that was folded and deleted', async () => {
    const { table } = embedded;
    let time = Date.parse('2026-01-01T00:00:00Z');
    const clocked = { ...table, clock: { now: () => time, wait: () => Promise.resolve() } };
    await transact(table, [logChange(list.index, 2, ended)]);
    for (let fold = 0; fold < 3; fold++) {
      await foldChanges(clocked, list.index, 1);
      time += 5_000;
    }
    await transact(table, [logChange(list.index, 3, purged, 'run-3')]);
    expect(await readLogAround(() => Promise.resolve())).toStrictEqual({ entries: ['run-3'], reads: 2 });
  });
});
