import { listOfEntry, sweepLists } from 'computation-management-counted-list';
import * as v from 'valibot';
import { steadyTimeOf } from '../runtime/deadline.ts';
import { inParallel } from '../runtime/in-parallel.ts';
import { log } from '../runtime/log.ts';
import { listNamed, listTable } from './row-lists.ts';
import { clockOf, type Table } from './table.ts';

const text = v.object({ S: v.string() });

/**
 * Schema of a batch of records from the stream of the DynamoDB table. Reads only the keys of the changed items, and the time of the
 * change in seconds since 1970, without which a record says nothing about time.
 */
export const streamBatch = v.object({
  Records: v.array(
    v.object({
      dynamodb: v.object({ Keys: v.object({ pk: text, sk: text }), ApproximateCreationDateTime: v.optional(v.number()) }),
    }),
  ),
});
/** A batch of records from the stream of the DynamoDB table. */
export type StreamBatch = v.InferOutput<typeof streamBatch>;

const listsAtOnce = 10;
/**
 * The time after which the lists of a batch get no second fold, in milliseconds: the next batch of the stream waits for this one. The
 * next batch or the schedule goes on, and deletes what the folds replaced.
 */
const longestFoldInMilliseconds = 1_000;
const longestSweepInMilliseconds = 20_000;

/**
 * Folds each list that a batch of the table's stream has changed, if it may be worth its cost: sorts the new entries of the list into its
 * index. If one list fails, the rest are still folded.
 * @returns the number of lists that were changed
 * @throws AggregateError if a list failed
 */
export async function foldChangedLists(table: Table, { Records }: StreamBatch): Promise<number> {
  const now = () => steadyTimeOf(clockOf(table));
  const end = now() + longestFoldInMilliseconds;
  const changed = Records.map(({ dynamodb: { Keys } }) => listOfEntry({ pk: Keys.pk.S, sk: Keys.sk.S }));
  const lists = Map.groupBy(
    changed.filter((name) => name !== undefined),
    (name) => name,
  );
  const failures: unknown[] = [];
  const fold = async ([name, { length }]: [string, string[]]) => {
    const list = listNamed(table, name);
    try {
      if (list.isDue(length)) await list.fold({ forMilliseconds: end - now() });
    } catch (error) {
      log('ERROR', 'The changes of a list were not folded.', { list: name }, error);
      failures.push(error);
    }
  };
  await inParallel([...lists], fold, listsAtOnce);
  throwFailures(failures, lists.size);
  return lists.size;
}

/**
 * Folds every counted list that is marked as having changes: sorts the changes into the index of the list, until 20 seconds are
 * over.
 * @returns the number of lists that were looked at
 * @throws AggregateError if a list failed
 */
export async function foldMarkedLists(table: Table): Promise<number> {
  const swept = await sweepLists(listTable(table), (name) => listNamed(table, name), longestSweepInMilliseconds);
  const failures: unknown[] = [];
  for (const { name, failure } of swept) {
    if (failure === undefined) continue;
    log('ERROR', 'The changes of a list were not folded.', { list: name }, failure);
    failures.push(failure);
  }
  throwFailures(failures, swept.length);
  return swept.length;
}

function throwFailures(failures: readonly unknown[], count: number): void {
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${count} lists were not folded.`);
}
