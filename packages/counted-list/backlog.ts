import * as v from 'valibot';
import { readHead } from './head.ts';
import { type ListKeys, markPartitions } from './keys.ts';
import { countSteps, readLog, unfoldedOf } from './log.ts';
import {
  getItem,
  isAbsent,
  type ListTable,
  parseItem,
  putItemIf,
  putItems,
  queryPrefix,
  rememberedByTable,
  steadyTime,
} from './table.ts';

const storedMark = v.object({
  sk: v.string(),
  /** When it was last folded, or first marked. Milliseconds since 1970. */
  marked_at: v.number(),
});

export type Mark = v.InferOutput<typeof storedMark>;

export async function readMark(table: ListTable, keys: ListKeys): Promise<Mark | undefined> {
  const item = await getItem(table, keys.mark);
  return item && parseItem(storedMark, item, 'mark');
}

export async function readMarks(table: ListTable): Promise<Mark[]> {
  const items = await Promise.all(markPartitions.map((pk) => queryPrefix(table, pk, '')));
  return items.flat().map((item) => parseItem(storedMark, item, 'mark'));
}

/** A fold that began before its list was last marked so long ago has ended or died. */
export const longestFoldInMilliseconds = 60_000;

/**
 * Marks a list before it is folded, so that no mark is removed while a fold may still write.
 * @param mark as it was read; a fold replaces it, at most twice in the time that it may take
 */
export async function markList(table: ListTable, keys: ListKeys, mark: Mark | undefined, isFolded: boolean): Promise<void> {
  const now = table.clock.now();
  const item = { ...keys.mark, marked_at: now };
  const isOld = mark && Math.abs(now - mark.marked_at) >= longestFoldInMilliseconds / 2;
  if (!mark) await putItemIf(table, item, isAbsent);
  else if (isFolded && isOld) await putItems(table, [item]);
}

/** So many changes in the log of a list without a mark are left to the schedule too. */
const leastToMark = 64;
const changesPerLook = 16;
const lookAgainInMilliseconds = 5_000;
const mostLists = 1_000;

/** Thrown by changes of a list that is not folded. Reads stay exact. */
export class BacklogError extends Error {
  override readonly name = 'BacklogError';
}

interface Look {
  until: number;
  isTooLong: boolean;
}

const looks = rememberedByTable<Look>();

/** @throws BacklogError if this process has seen a moment ago that too much is left */
export function refuseBeyondBacklog(table: ListTable, { name }: ListKeys): void {
  const look = looks(table).get(name);
  if (!look?.isTooLong || steadyTime(table) >= look.until) return;
  throw new BacklogError(`The changes of the list ${name} are not folded.`);
}

/**
 * Looks at the log after one change of sixteen, at most every five seconds, and after each that follows a refused one. Marks the
 * list if much is left and it has lost its mark.
 * @param options.most the changes in the log from which on a list refuses further ones
 */
export async function lookAtLog(
  table: ListTable,
  keys: ListKeys,
  change: { number: number; version: number },
  { most, onBacklog }: { most: number; onBacklog?: ((unfolded: number) => void) | undefined },
): Promise<void> {
  const ofLists = looks(table);
  const last = ofLists.get(keys.name);
  const isTurn = (change.number * 5 + change.version) % changesPerLook === 0 || last?.isTooLong;
  if (!isTurn || (last && steadyTime(table) < last.until)) return;
  if (ofLists.size >= mostLists) ofLists.clear();
  const remember = (isTooLong: boolean) =>
    ofLists.set(keys.name, { until: steadyTime(table) + lookAgainInMilliseconds, isTooLong });
  remember(last?.isTooLong ?? false);
  const head = await readHead(table, keys);
  const unfolded = countSteps(unfoldedOf(head, await readLog(table, keys)));
  remember(unfolded >= most);
  if (unfolded < leastToMark) return;
  onBacklog?.(unfolded);
  await markList(table, keys, await readMark(table, keys), false);
}
