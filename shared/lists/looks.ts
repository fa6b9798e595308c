import { systemClock } from '../clock.ts';
import type { Table } from '../table/table.ts';
import type { ListIndex } from './list-index.ts';

/** Every 16th change looks at the log, which should be folded from 32 changes on. A power of 2. */
export const changesPerLook = 16;

/**
 * A look reads the whole log, and a busy list has hundreds of folded entries in it, so that only many changes are worth a fold. A
 * process that has seen this looks so much more rarely for a while. What others have folded meanwhile may have made the log short.
 */
const rarelyForInMilliseconds = 10_000;
const maxLists = 1_000;

/** By the client of the table, and the list's scope. Only lists that are looked at more rarely. */
const looks = new WeakMap<object, Map<string, { every: number; until: number }>>();

/** Returns how many changes there are for each look at the log: 16 times a power of 2. */
export function untilLook(table: Table, { scope }: ListIndex): number {
  const look = looks.get(table.document)?.get(scope);
  return look && look.until > now(table) ? look.every : changesPerLook;
}

/** @param worthFrom as many changes are worth a fold */
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
