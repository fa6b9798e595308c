import { TakenOverError } from '../lists/build.ts';
import { carryOver } from '../lists/carry-over.ts';
import { listsOfIndex } from '../lists/indexed-list.ts';
import { carryOverName } from '../lists/old-lists.ts';
import { oldListKeys } from '../table/old-list-keys.ts';
import { scanPage } from '../table/scan.ts';
import { deadlineOf } from '../table/table.ts';
import type { Migration } from './migration.ts';

const itemsPerStep = 100;
/** No list is begun with less time left. */
const listTimeInMilliseconds = 2_000;

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
    let changed = 0;
    for (const pk of new Set(items.map((item) => String(item['pk'])))) {
      const lists = listsOfIndex(pk);
      if (!lists) continue;
      try {
        for (let rows = await carryOver(table, lists); rows !== undefined; rows = await carryOver(table, lists)) {
          changed += rows;
          if (deadlineOf(table).remaining < listTimeInMilliseconds) return { next: cursor, changed, isUnfinished: true };
        }
      } catch (error) {
        if (error instanceof TakenOverError) return { next: cursor, changed, isTakenOver: true };
        throw error;
      }
    }
    return { next, changed };
  },
};
