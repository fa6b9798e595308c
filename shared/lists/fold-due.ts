import * as v from 'valibot';
import { deleteDeadNodes } from './dead-nodes.ts';
import { changesPerFoldCheck, changesUntilFoldCheck, rememberFoldCheck } from './fold-schedule.ts';
import { foldChanges, leastToMark } from './fold.ts';
import { listsOfIndex } from './indexed-list.ts';
import { type ListIndex, logChange, nameOfResource, type Step } from './log.ts';
import { log } from '../runtime/log.ts';
import { emitWaiting } from '../runtime/metrics.ts';
import { dueFoldKeys, writableKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { clockOf, deadlineOf, type Item, queryPartition, type Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import { deleteItemIf } from '../table/writes.ts';

/** A fold marks its index before it commits. After this time it has ended or died. */
const longestFoldInMilliseconds = 60_000;
/** So long after the last fold, even a single change is folded: the next change of the list may come much later. */
const patienceInMilliseconds = 10 * 60_000;
const indexesAtOnce = 10;
/** No part of a log is begun with less time left. */
const partTimeInMilliseconds = 4_000;

const storedMark = v.object({ pk: v.string(), sk: v.string(), marked_at: v.number() });

/**
 * Folds what is left in the log of each index that was folded recently, and deletes what earlier folds replaced. If an index fails,
 * the others are folded nevertheless.
 * @returns the number of indexes that were looked at
 * @throws AggregateError if an index failed
 */
export async function foldDueLists(table: Table): Promise<number> {
  const marks = (await Promise.all(dueFoldKeys.shards.map((shard) => queryPartition(table, shard)))).flat();
  const failures: unknown[] = [];
  let longest = { index: '', changes: 0 };
  const fold = async (mark: Item) => {
    const index = String(mark['sk']);
    try {
      const changes = await foldMarked(table, mark);
      if (changes > longest.changes) longest = { index, changes };
    } catch (error) {
      log('ERROR', 'The changes of a list were not folded.', { index }, error);
      failures.push(error);
    }
  };
  for (let start = 0; start < marks.length; start += indexesAtOnce) {
    await Promise.all(marks.slice(start, start + indexesAtOnce).map(fold));
  }
  if (longest.changes > 0) {
    emitWaiting('maintenance/fold-lists', longest.changes);
    log('INFO', 'The list with the most changes that were not folded.', longest);
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${marks.length} lists were not folded.`);
  return marks.length;
}

/** Folds a marked index, and removes the mark if nothing was left to do. @returns the number of changes that were in its log */
async function foldMarked(table: Table, mark: Item): Promise<number> {
  const { pk, sk: scope, marked_at } = parseStored(storedMark, mark, 'mark of a list to fold');
  const lists = listsOfIndex(scope);
  if (!lists) throw new Error(`No list has the index ${scope}.`);
  const { index } = lists[0];
  // A clock that was set back is no reason to wait.
  const isRecent = Math.abs(clockOf(table).now() - marked_at) < patienceInMilliseconds;
  const least = isRecent ? leastToMark : 1;
  const { steps, folds, ...first } = await foldChanges(table, index, least);
  // A fold takes a part of a long log. The head has room for the names of some parts, until earlier ones are cleared.
  for (
    let part = { steps, ...first };
    part.folded > 0 && part.folded < part.steps && deadlineOf(table).remaining >= partTimeInMilliseconds;
  ) {
    part = await foldChanges(table, index, least);
  }
  const isOver = clockOf(table).now() - marked_at > longestFoldInMilliseconds;
  if (steps === 0 && folds === 0 && isOver) {
    await deleteDeadNodes(table, index);
    const unchanged = { ConditionExpression: 'marked_at = :at', ExpressionAttributeValues: { ':at': marked_at } };
    await deleteItemIf(table, writableKey(pk, scope), unchanged);
  }
  return steps;
}

/** Adds a change of members to the transaction that changes the resource. See logChange. */
export function recordChange(
  transaction: Transaction,
  index: ListIndex,
  { resource, name = nameOfResource(resource), ...step }: Step & { resource: number; name?: string },
): void {
  transaction.add(logChange(index, resource, step, name));
  const change = resource * 5 + step.version;
  if (change % changesPerFoldCheck !== 0) return;
  transaction.afterwards(async (table) => {
    if (change % changesUntilFoldCheck(table, index) === 0) await tryToFold(table, index);
  });
}

/** The change has succeeded. The next check folds what this one failed to fold. */
async function tryToFold(table: Table, index: ListIndex): Promise<void> {
  try {
    const { steps, folds, worthFrom } = await foldChanges(table, index);
    if (steps >= leastToMark || folds > 0) rememberFoldCheck(table, index, worthFrom); // the schedule knows the index
  } catch (error) {
    log('WARN', 'The changes of a list were not folded, and will be later.', { index: index.scope }, error);
  }
}
