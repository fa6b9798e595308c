import { randomBytes } from 'node:crypto';
import { systemClock } from '../clock.ts';
import { log } from '../logger.ts';
import { emitMetric } from '../metrics.ts';
import { indexKeys } from '../table/index-keys.ts';
import { dueFoldKeys, type Key } from '../table/keys.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { deleteItems, putItem, putItemIf, putItems } from '../table/writes.ts';
import { changeTree } from './change-tree.ts';
import { clearFold, readPlans, recordPlan, removeFailedFold, removeFailedFolds, type FoldPlan } from './clear-fold.ts';
import { countDays, moveOldDays, readDaysNotIn } from './days.ts';
import { encodeHead, parseHead, type Fold, type Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import type { LogEntry } from './log.ts';
import { countsOf } from './node.ts';
import { hasOldMembers, isCarriedOver } from './old-lists.ts';
import { readWholeLog } from './read-log.ts';
import { readTree } from './snapshot.ts';
import { countSteps, leastStepsToFold } from './least-steps.ts';
import { nodeItems, StoredNodes } from './stored-nodes.ts';
import { divideEdge } from './tree.ts';
import { differencesOf, unfoldedEntries, versionsOf } from './unfolded.ts';

/**
 * How long everything that a fold replaced stays, counted from when its commit, or its clearing, was known to be done. More than
 * a read may last (snapshot.ts), by as much as the clocks of two machines may differ.
 */
export const stayInMilliseconds = 4_000;

/**
 * A fold that no schedule calls begins only if no other one began in this time, whether it moves changes or only ages earlier folds:
 * both would write the same nodes and delete the same entries, and one of them in vain. Longer than a fold takes. A fold that dies
 * holds the next one up for as long.
 */
const turnInMilliseconds = 3_000;

/**
 * Moves the changes in the log into the trees, in new nodes, and deletes what earlier folds replaced. It may be called at any
 * time, by several callers at the same time, and may die at any call: the only commit is one conditional write of the head.
 * @param least with fewer changes in the log, nothing is folded. Default: as many as make a fold worth its cost, and nothing while
 * another caller may be folding.
 * @returns what there was to do
 */
export async function foldChanges(table: Table, index: ListIndex, least?: number): Promise<ToDo> {
  const clock = table.clock ?? systemClock;
  const head = parseHead(await getItem(table, indexKeys.head(index)));
  const entries = await readWholeLog(table, index, head);
  const unfolded = unfoldedEntries(head, entries);
  const worthFrom = leastStepsToFold(head, { entries, unfolded });
  const toDo = { steps: countSteps(unfolded), folds: head.folds.length, worthFrom };
  const isWorthIt = toDo.steps >= (least ?? worthFrom);
  if (!isWorthIt && !head.folds.some((fold) => isToAge(fold, clock.now()))) return toDo;

  if (head.held !== undefined) return toDo;
  if (head.version === 0 && (await hasOldMembers(table, index)) && !(await isCarriedOver(table))) return toDo;
  if (least === undefined && !(await takeTurn(table, index, clock.now()))) return toDo;
  const aged = await ageFolds(table, index, { head, entries, now: clock.now() });
  if (!isWorthIt && !aged.hasChanged) return toDo;
  const before: Head = { ...head, folds: aged.folds, version: head.version + 1 };
  if (!isWorthIt) {
    await commitHead(table, index, before);
    return toDo;
  }
  const [fold] = await Promise.all([
    writeFold(table, index, before, { unfolded, now: clock.now() }),
    ...(least === undefined ? [] : [putItem(table, markOf(index, clock.now()))]),
  ]);
  if (!(await commitHead(table, index, fold.head))) {
    await removeUnlessCommitted(table, index, fold);
    return toDo;
  }
  if (fold.drifted.length > 0) reportDrift(index, fold.drifted);
  // The commit has been answered: from now on no read begins with an older head.
  const seen = fold.head.folds.map((each) => (each.name === fold.name ? seenAt(each, clock.now()) : each));
  await commitHead(table, index, { ...fold.head, version: fold.head.version + 1, folds: seen });
  return toDo;
}

interface ToDo {
  /** The changes that no tree contained. */
  steps: number;
  /** The earlier folds that were not cleared. */
  folds: number;
  /** As many changes would have been worth a fold. */
  worthFrom: number;
}

/** The mark for the scheduled fold. */
function markOf(index: ListIndex, now: number): Item & Key {
  return { ...dueFoldKeys.mark(index), marked_at: now };
}

/** Marks the index, unless another fold has done so just now. */
function takeTurn(table: Table, index: ListIndex, now: number): Promise<boolean> {
  return putItemIf(table, markOf(index, now), {
    ConditionExpression: 'attribute_not_exists(pk) OR marked_at <= :before',
    ExpressionAttributeValues: { ':before': now - turnInMilliseconds },
  });
}

/** A member that a change did not find as it left it: rows and index have drifted apart. The fold sets it to its new state. */
function reportDrift({ scope }: ListIndex, drifted: readonly string[]): void {
  log('ERROR', 'A list differs from its rows. See the runbook.', { index: scope, members: drifted.slice(0, 10) });
  emitMetric('ListDrift', drifted.length);
}

/**
 * Deletes what a fold wrote if another one came first. The refused write may also be the fold's own: the SDK repeats a write whose
 * answer is lost, and the repeat finds the head replaced.
 */
async function removeUnlessCommitted(table: Table, index: ListIndex, { name, plan, writtenAt }: WrittenFold): Promise<void> {
  const { folds } = parseHead(await getItem(table, indexKeys.head(index)));
  if (folds.some((fold) => fold.name === name)) return;
  // Heads forget folds, but not so soon. After this time, a later fold decides by the plan (removeFailedFolds).
  if ((table.clock ?? systemClock).now() - writtenAt >= stayInMilliseconds) return;
  await removeFailedFold(table, index, name, plan);
}

function seenAt(fold: Fold, now: number): Fold {
  return { ...fold, stage: 'seen', at: now };
}

/** Replaces the head, unless it has been replaced since it was read. */
export function commitHead(table: Table, index: ListIndex, head: Head): Promise<boolean> {
  const isNext =
    head.version === 1
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : { ConditionExpression: 'version = :before', ExpressionAttributeValues: { ':before': head.version - 1 } };
  return putItemIf(table, { ...indexKeys.head(index), ...encodeHead(head) }, isNext);
}

function hasStayed({ at }: Fold, now: number): boolean {
  return now - at >= stayInMilliseconds;
}

/** Returns whether it is time for the fold's next stage. */
function isToAge(fold: Fold, now: number): boolean {
  return fold.stage === 'committed' || hasStayed(fold, now);
}

/** Takes each earlier fold to its next stage, if it is time. */
async function ageFolds(
  table: Table,
  index: ListIndex,
  { head, entries, now }: { head: Head; entries: readonly LogEntry[]; now: number },
): Promise<{ folds: Fold[]; hasChanged: boolean }> {
  const isOver = (fold: Fold) => hasStayed(fold, now);
  const plans = head.folds.some(isOver) ? await readPlans(table, index) : new Map<string, FoldPlan>();
  await removeFailedFolds(table, index, head, plans);
  const folds: Fold[] = [];
  for (const fold of head.folds) {
    if (fold.stage === 'committed') folds.push(seenAt(fold, now));
    else if (!isOver(fold)) folds.push(fold);
    else if (fold.stage === 'seen') {
      await clearFold(table, index, fold, { entries, plan: plans.get(fold.name) });
      // Without its plan, a fold that the head forgets is never taken for one that failed.
      await deleteItems(table, [indexKeys.fold(index, fold.name)]);
      folds.push({ ...fold, stage: 'cleared', at: (table.clock ?? systemClock).now() });
    }
  }
  const hasChanged = folds.length < head.folds.length || folds.some((fold, at) => fold.stage !== head.folds[at]?.stage);
  return { folds, hasChanged };
}

/** Names sort by the version of the head that they commit. */
export function foldName(version: number, distinct: string): string {
  return `${String(version).padStart(15, '0')}-${distinct}`;
}

interface WrittenFold {
  name: string;
  plan: FoldPlan;
  /** The head that commits the fold. */
  head: Head;
  /** Milliseconds since 1970, before the first write. */
  writtenAt: number;
  /** The members that were not in the state that they changed from: tree, group and number. */
  drifted: string[];
}

/** Writes the new nodes of all trees. Nothing refers to them until the head is committed. */
async function writeFold(
  table: Table,
  index: ListIndex,
  head: Head,
  { unfolded, now }: { unfolded: readonly LogEntry[]; now: number },
): Promise<WrittenFold> {
  const name = foldName(head.version, randomBytes(6).toString('base64url'));
  const next: Head = { ...head, totals: { ...head.totals }, leaves: { ...head.leaves } };
  const plan: FoldPlan = { version: head.version, written: [], dropped: [], roots_written: [], roots_dropped: [] };
  const items: (Item & Key)[] = [];
  const drifted: string[] = [];
  const source = new StoredNodes(table, index);
  const roots = new Map(Object.entries(head.roots));
  const branches = new Map(Object.entries(head.branches));
  await Promise.all(
    [...differencesOf(index, unfolded)].map(async ([letter, differences]) => {
      if (differences.length === 0) return;
      const isList = letter in index.trees;
      const changes = differences.map(({ group, number, before, now: state }) => ({ group, number, before, state }));
      const before = await readTree(table, index, head, letter);
      const { tree, written, dropped, unexpected } = await changeTree(before, changes, source);
      const { upper: edge, branch, leaf } = divideEdge(tree, isList);
      const oldRoot = head.roots[letter];
      if (isList) next.totals[letter] = [...countsOf(tree)];
      if (leaf) next.leaves[letter] = leaf;
      branches.delete(letter);
      if (branch) branches.set(letter, branch);
      const old = divideEdge(before, isList);
      const wasStoredSo = Boolean(old.branch) === letter in head.branches;
      // New members mostly change no more than the head.
      if (!wasStoredSo || !isSameEdge(edge, old.upper)) {
        roots.delete(letter);
        if (oldRoot !== undefined) plan.roots_dropped.push(indexKeys.root(index, letter, oldRoot).sk);
        if (edge.length > 0) {
          const root = indexKeys.root(index, letter, name);
          roots.set(letter, name);
          plan.roots_written.push(root.sk);
          items.push({ ...root, edge });
        }
      }
      plan.written.push(...written.keys());
      plan.dropped.push(...dropped);
      drifted.push(...unexpected.map(({ group, number }) => `${letter} ${group}/${number}`));
      items.push(...nodeItems(index, written));
    }),
  );
  next.roots = Object.fromEntries(roots);
  next.branches = Object.fromEntries(branches);
  const days = countDays(head.days, unfolded, await readDaysNotIn(table, index, head.days, unfolded));
  next.days = await moveOldDays(table, index, { before: head.days, now: days }, { now, keptBefore: now - stayInMilliseconds });
  next.folds = [...head.folds, { name, stage: 'committed', at: now, entries: versionsOf(unfolded) }];
  if (items.length > 0 || plan.dropped.length > 0 || plan.roots_dropped.length > 0) {
    await recordPlan(table, index, name, plan);
    await putItems(table, items);
  }
  return { name, plan, head: next, writtenAt: now, drifted };
}

function isSameEdge(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((bytes, at) => Buffer.compare(bytes, b[at] ?? new Uint8Array()) === 0);
}
