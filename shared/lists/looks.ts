import { systemClock } from '../clock.ts';
import type { Table } from '../table/table.ts';
import type { ListIndex } from './list-index.ts';

/** Every 16th change looks at the log, which should be folded from 32 changes on (docs/adr/0001-lists.md, Folds). A power of 2. */
export const changesPerLook = 16;

/**
 * A look reads the whole log. The log of a busy list contains hundreds of folded entries, so a fold pays only for many changes. A
 * process that has seen this looks less often, but only for this time: folds of other processes may have shortened the log.
 */
const rarelyForInMilliseconds = 10_000;
const maxLists = 1_000;

/** By the client of the table and the scope of the list. Contains only lists that are looked at less often. */
const looks = new WeakMap<object, Map<string, { every: number; until: number }>>();

/** Returns after how many changes the log is looked at: 16 times a power of 2. */
export function changesUntilLook(table: Table, { scope }: ListIndex): number {
  const look = looks.get(table.document)?.get(scope);
  return look && look.until > now(table) ? look.every : changesPerLook;
}

/** Remembers what a look at the log has found. @param worthFrom the number of changes from which on a fold is worth its cost */
export function noteLook(table: Table, { scope }: ListIndex, worthFrom: number): void {
  const known = looks.get(table.document) ?? new Map<string, { every: number; until: number }>();
  looks.set(table.document, known);
  known.delete(scope);
  const every = 2 ** Math.floor(Math.log2(worthFrom / 2));
  if (every <= changesPerLook) return;
  if (known.size >= maxLists) known.clear();
  known.set(scope, { every, until: now(table) + rarelyForInMilliseconds });
}

function now({ clock = systemClock }: Table): number {
  return clock.now();
}
