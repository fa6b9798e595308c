import { indexKeys } from '../table/index-keys.ts';
import { clockOf, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { clearFold, readPlans, removeFailedFolds, removeNodes, type FoldPlan } from './clear-fold.ts';
import type { Fold, Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import type { LogEntry, LoggedStep } from './log.ts';
import { DeadNodes } from './node-ids.ts';
import { stayInMilliseconds } from './read-margin.ts';

/** Returns the fold in the stage `seen`: somebody has read the head with it. */
export function markSeen(fold: Fold, now: number): Fold {
  return { ...fold, stage: 'seen', at: now };
}

function hasStayed({ at }: Fold, now: number): boolean {
  return now - at >= stayInMilliseconds;
}

/** Returns whether it is time for the fold's next stage. */
export function isStageDue(fold: Fold, now: number): boolean {
  return fold.stage === 'committed' || hasStayed(fold, now);
}

export interface Advanced {
  /** The folds of the next head. */
  folds: Fold[];
  hasChanged: boolean;
  /** The names of the folds that have come to the stage `cleared`. See endClearing. */
  cleared: readonly string[];
  /** The nodes that these replaced. */
  dead: DeadNodes;
}

/**
 * Takes each earlier fold to its next stage, if it is time: `committed`, `seen`, `cleared`, forgotten. At each stage, no read that began
 * before needs what the next one deletes (docs/adr/0001-lists.md, Why a read is exact).
 */
export async function advanceFolds(
  table: Table,
  index: ListIndex,
  { head, entries, now }: { head: Head; entries: readonly LogEntry<LoggedStep>[]; now: number },
): Promise<Advanced> {
  const isOver = (fold: Fold) => hasStayed(fold, now);
  const plans = head.folds.some(isOver) ? await readPlans(table, index) : new Map<string, FoldPlan>();
  await removeFailedFolds(table, index, head, plans);
  const folds: Fold[] = [];
  const cleared: string[] = [];
  const dead: string[] = [];
  for (const fold of head.folds) {
    if (fold.stage === 'committed') folds.push(markSeen(fold, now));
    else if (!isOver(fold)) folds.push(fold);
    else if (fold.stage === 'seen') {
      const plan = plans.get(fold.name);
      await clearFold(table, index, fold, { entries, plan });
      cleared.push(fold.name);
      if (plan) dead.push(...plan.dropped);
      folds.push({ ...fold, stage: 'cleared', at: clockOf(table).now() });
    }
  }
  const hasChanged = folds.length < head.folds.length || folds.some((fold, at) => fold.stage !== head.folds[at]?.stage);
  return { folds, hasChanged, cleared, dead: new DeadNodes(dead) };
}

/**
 * Deletes the dead nodes whose places no new ones have taken, before the head is committed that has their folds in the stage `cleared`.
 * Their plans go last, so that whoever takes these folds to this stage after a death knows their nodes.
 */
export async function endClearing(table: Table, index: ListIndex, { cleared, dead }: Advanced): Promise<void> {
  await removeNodes(table, index, dead.unused);
  // Without its plan, a fold that the head forgets is never taken for one that failed.
  await deleteItems(
    table,
    cleared.map((name) => indexKeys.fold(index, name)),
  );
}
