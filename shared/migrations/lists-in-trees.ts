import { TakenOverError } from '../lists/build.ts';
import { carryOver } from '../lists/carry-over.ts';
import { listsOfIndex } from '../lists/indexed-list.ts';
import { carryOverName } from '../lists/old-lists.ts';
import { oldListKeys } from '../table/old-list-keys.ts';
import { inParallel } from '../in-parallel.ts';
import { scanPage } from '../table/scan.ts';
import { deadlineOf, type Table } from '../table/table.ts';
import type { Migration } from './migration.ts';

const itemsPerStep = 100;
/** No step of a list is begun with less time left. One of them waits for two seconds. */
const stepTimeInMilliseconds = 4_000;

/** Lists of earlier versions had counts of their members in items of this kind. */
const listsWithCounts = {
  FilterExpression: 'begins_with(sk, :mid)',
  ExpressionAttributeValues: { ':mid': oldListKeys.prefixes.mid },
};

/**
 * Enters the members of lists that earlier versions have written into the trees of their index, which makes pages and totals cost
 * the same at any size, and allows for the filters by owner, by status of a run and by computation. Lists are read correctly
 * before, during and after it. What the earlier versions need for their lists stays as it is.
 */
export const listsInTrees: Migration = {
  name: carryOverName,
  step: async (table, cursor) => {
    const page = { after: cursor, limit: itemsPerStep, filter: listsWithCounts, attributes: ['pk', 'sk'] };
    const { items, next } = await scanPage(table, page);
    const progress: Progress = { changed: 0, isUnfinished: false, failures: [] };
    // Several at a time, since each waits.
    await inParallel([...new Set(items.map((item) => String(item['pk'])))], (pk) => enterLists(table, pk, progress));
    const { changed, isUnfinished, failures } = progress;
    for (const failure of failures) if (!(failure instanceof TakenOverError)) throw failure;
    if (failures.length > 0) return { next: cursor, changed, isTakenOver: true };
    return isUnfinished ? { next: cursor, changed, isUnfinished } : { next, changed };
  },
};

interface Progress {
  changed: number;
  isUnfinished: boolean;
  /** The step throws them when all lists have ended: a list that went on after it could meet the next step. */
  failures: unknown[];
}

/** Enters the lists of an index, as far as the time suffices, and until another index fails. */
async function enterLists(table: Table, scope: string, progress: Progress): Promise<void> {
  const lists = listsOfIndex(scope);
  if (!lists) return;
  const isToEnd = () => progress.isUnfinished || progress.failures.length > 0;
  try {
    while (!isToEnd()) {
      const entered = await carryOver(table, lists);
      if (entered === undefined) return;
      progress.changed += entered;
      if (deadlineOf(table).remaining < stepTimeInMilliseconds) progress.isUnfinished = true;
    }
  } catch (error) {
    progress.failures.push(error);
  }
}
