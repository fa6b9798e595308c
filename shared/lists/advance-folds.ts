import { indexKeys } from '../table/index-keys.ts';
import { clockOf, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { clearFold, readPlans, removeFailedFolds, type FoldPlan } from './clear-fold.ts';
import type { Fold, Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import type { LogEntry, LoggedStep } from './log.ts';
import { clocksDifferByMilliseconds, stayInMilliseconds } from './read-margin.ts';

/** Returns the fold in the stage `seen`: somebody has read the head with it. */
export function markSeen(fold: Fold, now: number): Fold {
  return { ...fold, stage: 'seen', at: now };
}

function hasStayed({ at }: Fold, now: number): boolean {
  return now - at >= stayInMilliseconds;
}

/** Returns whether the clock has been set back since. The fold then begins its stage again, so that it need not wait for `at`. */
function isAhead({ at }: Fold, now: number): boolean {
  return at - now > clocksDifferByMilliseconds;
}

/** Returns whether it is time for the fold's next stage, or to begin its stage again. */
export function isStageDue(fold: Fold, now: number): boolean {
  return fold.stage === 'committed' || hasStayed(fold, now) || isAhead(fold, now);
}

/**
 * Takes each earlier fold to its next stage, if it is time: `committed`, `seen`, `cleared`, forgotten. At each stage, no read that began
 * before needs what the next one deletes (docs/adr/0001-lists.md, Why a read is exact).
 */
export async function advanceFolds(
  table: Table,
  index: ListIndex,
  { head, entries, now }: { head: Head; entries: readonly LogEntry<LoggedStep>[]; now: number },
): Promise<{ folds: Fold[]; hasChanged: boolean }> {
  const isOver = (fold: Fold) => hasStayed(fold, now);
  const plans = head.folds.some(isOver) ? await readPlans(table, index) : new Map<string, FoldPlan>();
  await removeFailedFolds(table, index, head, plans);
  const folds: Fold[] = [];
  for (const fold of head.folds) {
    if (fold.stage === 'committed') folds.push(markSeen(fold, now));
    else if (isAhead(fold, now)) folds.push({ ...fold, at: now });
    else if (!isOver(fold)) folds.push(fold);
    else if (fold.stage === 'seen') {
      await clearFold(table, index, fold, { entries, plan: plans.get(fold.name) });
      // Without its plan, a fold that the head forgets is never taken for one that failed.
      await deleteItems(table, [indexKeys.fold(index, fold.name)]);
      folds.push({ ...fold, stage: 'cleared', at: clockOf(table).now() });
    }
  }
  const hasChanged = folds.length < head.folds.length || folds.some((fold, at) => fold !== head.folds[at]);
  return { folds, hasChanged };
}
