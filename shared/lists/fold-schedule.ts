import type { ListIndex } from './log.ts';
import { log } from '../runtime/log.ts';
import { dueFoldKeys, type Key } from '../table/keys.ts';
import { clockOf, type Item, type Table } from '../table/table.ts';
import { putItem, putItemIf } from '../table/writes.ts';

/** Every 16th change checks whether to fold the log, which is due from 32 changes on (docs/adr/0001-lists.md, Folds). A power of 2. */
export const changesPerFoldCheck = 16;

/**
 * A check reads the whole log. In a busy list the log contains hundreds of folded entries, and a fold is worth its cost only after
 * many changes. A process that has seen this checks less often, but only for this time: other processes may have shortened the log.
 */
const rarelyForInMilliseconds = 10_000;
const maxLists = 1_000;

/** By the client of the table and the scope of the list. Contains only lists that are checked less often. */
const intervals = new WeakMap<object, Map<string, { every: number; until: number }>>();

/** Returns after how many changes to check whether to fold: 16 times a power of 2. */
export function changesUntilFoldCheck(table: Table, { scope }: ListIndex): number {
  const known = intervals.get(table.document)?.get(scope);
  return known && known.until > clockOf(table).now() ? known.every : changesPerFoldCheck;
}

/** Remembers what a check of the log has found. @param worthFrom the number of changes from which on a fold is worth its cost */
export function rememberFoldCheck(table: Table, { scope }: ListIndex, worthFrom: number): void {
  const known = intervals.get(table.document) ?? new Map<string, { every: number; until: number }>();
  intervals.set(table.document, known);
  known.delete(scope);
  const every = 2 ** Math.floor(Math.log2(worthFrom / 2));
  if (every <= changesPerFoldCheck) return;
  if (known.size >= maxLists) known.clear();
  known.set(scope, { every, until: clockOf(table).now() + rarelyForInMilliseconds });
}

/**
 * Two folds of an index at the same time do the same work, one of them in vain. So a fold that a change starts, not the schedule,
 * needs this lease, even if it only advances earlier folds. The lease outlasts a fold. A fold that ends releases it early, because
 * folded entries are in the log, and cost every read, until a later fold deletes them.
 */
const leaseInMilliseconds = { longest: 3_000, shortest: 1_000 };

/** The mark of an index for the scheduled fold, with the lease of the fold that set it. Nothing depends on the lease but cost. */
export type FoldLease = Item & Key & { marked_at: number; turn_until: number };

function newLease(table: Table, index: ListIndex): FoldLease {
  const now = clockOf(table).now();
  return { ...dueFoldKeys.mark(index), marked_at: now, turn_until: now + leaseInMilliseconds.longest };
}

/** Marks the index for the scheduled fold and takes the lease, also from another fold. */
export async function markIndex(table: Table, index: ListIndex): Promise<FoldLease> {
  const lease = newLease(table, index);
  await putItem(table, lease);
  return lease;
}

/** Marks the index for the scheduled fold, unless it is marked. */
export async function markIfUnmarked(table: Table, index: ListIndex): Promise<void> {
  const { turn_until: _, ...mark } = newLease(table, index);
  await putItemIf(table, mark, { ConditionExpression: 'attribute_not_exists(pk)' });
}

/** Marks the index for the scheduled fold and acquires the lease. @returns undefined if another fold has it */
export async function acquireFoldLease(table: Table, index: ListIndex): Promise<FoldLease | undefined> {
  const lease = newLease(table, index);
  const isFree = await putItemIf(table, lease, {
    ConditionExpression: 'attribute_not_exists(turn_until) OR turn_until <= :now',
    ExpressionAttributeValues: { ':now': lease.marked_at },
  });
  return isFree ? lease : undefined;
}

/** Releases the lease, but not within a second of its beginning. Does nothing if another fold has it by now. The lease also expires. */
export async function releaseFoldLease(table: Table, lease: FoldLease): Promise<void> {
  const released: FoldLease = { ...lease, turn_until: lease.marked_at + leaseInMilliseconds.shortest };
  const isOwn = { ConditionExpression: 'turn_until = :own', ExpressionAttributeValues: { ':own': lease.turn_until } };
  await putItemIf(table, released, isOwn).catch((error: unknown) => {
    log('WARN', 'The lease of a fold was not released.', { index: lease.sk }, error);
  });
}
