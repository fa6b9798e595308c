import type { ListKeys } from './keys.ts';
import { readHead, foldedVersion } from './head.ts';
import { countSteps, readLog, unfoldedOf } from './log.ts';
import { markList, readMark } from './marks.ts';
import { type ListTable, steadyTime } from './table.ts';

/** So many changes in the log of a list that is not marked are left to the schedule too, whatever has become of the stream. */
const leastToMark = 64;
/** One change of so many looks at the log. */
const changesPerLook = 16;
const lookAgainInMilliseconds = 5_000;
const mostLists = 1_000;

/** Thrown by changes of a list that is not folded. Reads stay exact. */
export class BacklogError extends Error {
  override readonly name = 'BacklogError';
}

/** What this process has last seen of a log. */
interface Look {
  table: ListTable;
  at: number;
  isTooLong: boolean;
}

/** By the name of the list. */
const looks = new Map<string, Look>();

/** @throws BacklogError if this process has seen a moment ago that too much is left in the log */
export function refuseBeyondBacklog({ name }: ListKeys): void {
  const look = looks.get(name);
  if (!look?.isTooLong || isOver(look)) return;
  throw new BacklogError(`The changes of the list ${name} are not folded.`);
}

function isOver({ table, at }: Look): boolean {
  return steadyTime(table) - at >= lookAgainInMilliseconds;
}

/**
 * Looks at the log after one change of sixteen, at most every five seconds, and after each that follows a refused one: so nothing
 * depends on what folds. Marks the list if much is left and it has lost its mark.
 * @param options.most the changes in the log from which on a list refuses further ones
 * @param options.onBacklog called with the number of changes that are left
 */
export async function lookAtLog(
  table: ListTable,
  keys: ListKeys,
  change: { number: number; version: number },
  { most, onBacklog }: { most: number; onBacklog?: ((unfolded: number) => void) | undefined },
): Promise<void> {
  const last = looks.get(keys.name);
  const isTurn = (change.number * 5 + change.version) % changesPerLook === 0 || last?.isTooLong;
  if (!isTurn || (last && !isOver(last))) return;
  if (looks.size >= mostLists) looks.clear();
  looks.set(keys.name, { table, at: steadyTime(table), isTooLong: last?.isTooLong ?? false });
  const head = await readHead(table, keys);
  const unfolded = countSteps(unfoldedOf(await readLog(table, keys), (number) => foldedVersion(head, number)));
  looks.set(keys.name, { table, at: steadyTime(table), isTooLong: unfolded >= most });
  if (unfolded < leastToMark) return;
  onBacklog?.(unfolded);
  await markList(table, keys, await readMark(table, keys), false);
}
