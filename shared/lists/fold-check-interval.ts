import { clockOf, type Table } from '../table/table.ts';
import type { ListIndex } from './list-index.ts';

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
