import { mostSince } from '../runtime/clock.ts';
import { clearFold, type FoldPlan, readPlans, removeFailedFold, removeFailedFolds } from './clear-fold.ts';
import { hasOldDays } from './days.ts';
import { acquireFoldLease, type FoldLease, markIfUnmarked, markIndex, releaseFoldLease } from './fold-schedule.ts';
import { commitHead, type Fold, type Head, readHead } from './head.ts';
import { countSteps, leastStepsToFold } from './least-steps.ts';
import type { ListIndex, LogEntry, LoggedStep } from './log.ts';
import { clocksDifferByMilliseconds, stayInMilliseconds } from './read-margin.ts';
import { NodeGoneError } from './stored-nodes.ts';
import { missingBefore, partToFold, readWholeLog, unfoldedEntries } from './unfolded-entries.ts';
import { writeFold, type WrittenFold } from './write-fold.ts';
import { log } from '../runtime/log.ts';
import { emitMetric } from '../runtime/metrics.ts';
import { indexKeys } from '../table/keys.ts';
import { clockOf, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';

/** Fewer changes in the log make a read no more expensive than promised. They may wait for the next ones, not for the schedule. */
export const leastToMark = 64;

/**
 * Moves changes in the log into the trees, in new nodes, and deletes what earlier folds replaced. It may be called at any
 * time, also by several callers at once, and may die at any call: only one conditional write of the head commits it.
 * @param least the fewest changes to fold. Default: as many as make a fold worth its cost, and none while another caller may be
 * folding.
 * @returns what there was to do, and what is done
 */
export async function foldChanges(table: Table, index: ListIndex, least?: number): Promise<ToDo> {
  const clock = clockOf(table);
  const head = await readHead(table, index);
  const entries = await readWholeLog(table, index, head);
  const unfolded = unfoldedEntries(head, entries);
  const worthFrom = leastStepsToFold(index, head, { entries, unfolded });
  const toDo = { steps: countSteps(unfolded), folded: 0, folds: head.folds.length, worthFrom };
  const isScheduled = least !== undefined;
  // A missing step makes each read begin again.
  const mayWait = !isScheduled || missingBefore(head, entries).length === 0;
  const isWorthIt = toDo.steps >= (mayWait ? (least ?? worthFrom) : 1) || (isScheduled && hasOldDays(head, clock.now()));
  if (!isWorthIt && !head.folds.some((fold) => isStageDue(fold, clock.now()))) {
    // An index whose head names folds is marked.
    if (toDo.steps >= leastToMark && head.folds.length === 0) await markIfUnmarked(table, index);
    return toDo;
  }

  // The mark comes first, so that the schedule also finds the log of an index that is not folded yet.
  const own = isScheduled ? undefined : await acquireFoldLease(table, index);
  if (!isScheduled && !own) return toDo;
  if (head.held !== undefined) return toDo;
  const advanced = await advanceFolds(table, index, { head, entries, now: clock.now() });
  const part = partToFold(unfolded, advanced.folds);
  // Without a part, the head has no room for more names.
  const isToFold = isWorthIt && (part.length > 0 || unfolded.length === 0);
  const next: Head = { ...head, folds: advanced.folds, version: head.version + 1 };
  const { isFolded, lease } = isToFold ? await foldPart(table, index, next, { part, own }) : { isFolded: false, lease: own };
  if (!isToFold && advanced.hasChanged) await commitHead(table, index, next);
  if (lease) await releaseFoldLease(table, lease);
  return isFolded ? { ...toDo, folded: countSteps(part) } : toDo;
}

interface PartToFold {
  part: readonly LogEntry[];
  /** The lease, if it was acquired. */
  own: FoldLease | undefined;
}

/** @param next the head of the next version, still with the trees of the one before */
async function foldPart(
  table: Table,
  index: ListIndex,
  next: Head,
  { part, own }: PartToFold,
): Promise<{ isFolded: boolean; lease: FoldLease }> {
  const now = clockOf(table).now();
  const [fold, lease] = await Promise.all([
    writeFold(table, index, next, { part, now }).catch(async (error: unknown) => {
      // Another fold was committed meanwhile, long enough ago that what it replaced is deleted.
      const isLost = error instanceof NodeGoneError && (await readHead(table, index)).version !== next.version - 1;
      if (!isLost) throw error;
    }),
    own ?? markIndex(table, index),
  ]);
  if (!fold) return { isFolded: false, lease };
  return { isFolded: await commitFold(table, index, fold), lease };
}

/** @returns whether the fold was committed, as far as its caller knows */
async function commitFold(table: Table, index: ListIndex, fold: WrittenFold): Promise<boolean> {
  if (!(await commitHead(table, index, fold.head))) {
    await removeUnlessCommitted(table, index, fold);
    return false;
  }
  if (fold.drifted.length > 0) reportDrift(index, fold.drifted);
  await fold.dead.forgetTaken(table);
  // The commit has been answered: from now on no read begins with an older head.
  const now = clockOf(table).now();
  const folds = fold.head.folds.map((each) => (each.name === fold.name ? markSeen(each, now) : each));
  await commitHead(table, index, { ...fold.head, version: fold.head.version + 1, folds });
  return true;
}

interface ToDo {
  /** The changes that no tree contained. */
  steps: number;
  /** How many of them this fold has moved into the trees. It takes a part if there are many (part-to-fold.ts). */
  folded: number;
  /** The earlier folds that the head contains. */
  folds: number;
  /** The number of changes from which on a fold is worth its cost. */
  worthFrom: number;
}

/** Reports members that were not in the state that a change began from: rows and index differ. The fold sets their new state. */
function reportDrift({ scope }: ListIndex, drifted: readonly string[]): void {
  log('ERROR', 'A list differs from its rows. See the runbook.', { index: scope, members: drifted.slice(0, 10) });
  emitMetric('ListDrift', drifted.length);
}

/** The fewest versions of the head that name a fold: each takes it to the next stage at most. */
const versionsWithFold = 3;

/**
 * Deletes what a fold wrote if another one came first. The refused write may also be the fold's own: the SDK repeats a write whose
 * answer is lost, and the repeat finds the head replaced.
 */
async function removeUnlessCommitted(table: Table, index: ListIndex, { name, plan, begunAt }: WrittenFold): Promise<void> {
  const { folds, version } = await readHead(table, index);
  if (folds.some((fold) => fold.name === name)) return;
  // The head names a fold that was committed for several versions, and for at least this time. After both, a later fold decides by the
  // plan (removeFailedFolds).
  const isForgotten = version >= plan.version + versionsWithFold && mostSince(clockOf(table), begunAt) >= stayInMilliseconds;
  if (isForgotten) return;
  await removeFailedFold(table, index, name, plan);
}

/** Returns the fold in the stage `seen`: somebody has read the head with it. */
function markSeen(fold: Fold, now: number): Fold {
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
function isStageDue(fold: Fold, now: number): boolean {
  return fold.stage === 'committed' || hasStayed(fold, now) || isAhead(fold, now);
}

/**
 * Takes each earlier fold to its next stage, if it is time: `committed`, `seen`, `cleared`, forgotten. At each stage, no read that began
 * before needs what the next one deletes (docs/adr/0001-lists.md, Why a read is exact).
 */
async function advanceFolds(
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
