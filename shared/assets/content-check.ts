import * as v from 'valibot';
import { parseStored } from '../table/parse-stored.ts';
import { contentCheckKeys } from '../table/keys.ts';
import { queryBetween, type Item, type Table } from '../table/table.ts';
import { type Action } from '../table/transaction.ts';

const contentCheck = v.object({ pk: v.string(), sk: v.string(), content_key: v.string() });
/** A note that a name in storage may turn out to belong to no row. */
export type ContentCheck = v.InferOutput<typeof contentCheck>;

/** Longer than a presigned upload or download is good for, and than any request takes. */
const delayInSeconds = 2 * 3600;

/** The note for a name that is about to be written, awaited, or given up; looked at in two hours. */
export function contentCheckItem(contentKey: string, now: string): Item & ContentCheck {
  const dueAt = new Date(Date.parse(now) + delayInSeconds * 1000).toISOString();
  return { ...contentCheckKeys.check(dueAt, contentKey), content_key: contentKey };
}

export function putContentCheck(contentKey: string, now: string): Action {
  return { put: { Item: contentCheckItem(contentKey, now) } };
}

/** Takes the note back, in the transaction of the row that names the content. */
export function dropContentCheck({ pk, sk }: ContentCheck): Action {
  return { delete: { Key: { pk, sk } } };
}

/** The notes due at `now`, oldest first, up to 1,000. */
export async function dueContentChecks(table: Table, now: string): Promise<ContentCheck[]> {
  const items = await queryBetween(table, contentCheckKeys.first, contentCheckKeys.check(now, ''), { limit: 1000 });
  return items.map((item) => parseStored(contentCheck, item, 'content check'));
}
