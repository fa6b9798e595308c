import * as v from 'valibot';
import { type ListKeys, markPartitions } from './keys.ts';
import {
  deleteItemIf,
  getItem,
  isAbsent,
  type Item,
  type ListTable,
  parseItem,
  putItemIf,
  putItems,
  queryPrefix,
} from './table.ts';

/** A list that has something to fold or to delete, so that a schedule finds it. */
export interface Mark {
  name: string;
  /** When it was last folded, or marked for the first time. Milliseconds since 1970. */
  markedAt: number;
}

const storedMark = v.object({ sk: v.string(), marked_at: v.number() });

function parseMark(item: Item): Mark {
  const { sk, marked_at } = parseItem(storedMark, item, 'mark');
  return { name: sk, markedAt: marked_at };
}

export async function readMark(table: ListTable, keys: ListKeys): Promise<Mark | undefined> {
  const item = await getItem(table, keys.mark);
  return item && parseMark(item);
}

export async function readMarks(table: ListTable): Promise<Mark[]> {
  return (await Promise.all(markPartitions.map((pk) => queryPrefix(table, pk, '')))).flat().map(parseMark);
}

/** A fold that began before its list was last marked so long ago has ended or died. */
export const longestFoldInMilliseconds = 60_000;

/**
 * Marks a list before it is folded, so that no mark is removed while a fold may still write. Also marks a list that is left as it is.
 * @param mark as it was read; a fold replaces it, at most twice in the time that it may take
 */
export async function markList(table: ListTable, keys: ListKeys, mark: Mark | undefined, isFolded: boolean): Promise<void> {
  const now = table.clock.now();
  const item = { ...keys.mark, marked_at: now };
  const isOld = mark && Math.abs(now - mark.markedAt) >= longestFoldInMilliseconds / 2;
  if (!mark) await putItemIf(table, item, isAbsent);
  else if (isFolded && isOld) await putItems(table, [item]);
}

/** Removes a mark of a list with nothing to fold or to delete, unless it has been marked again since. */
export async function unmarkList(table: ListTable, keys: ListKeys, { markedAt }: Mark): Promise<void> {
  const unchanged = { ConditionExpression: 'marked_at = :at', ExpressionAttributeValues: { ':at': markedAt } };
  await deleteItemIf(table, keys.mark, unchanged);
}
