import * as v from 'valibot';
import { parseStored } from '../table/parse-stored.ts';
import { contentCheckKeys, writableKey, type Key } from '../table/keys.ts';
import { queryBetween, type Item, type Table } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';

const contentCheck = v.object({ pk: v.string(), sk: v.string(), content_key: v.string() });

/** A check that is due later: delete this content unless a row names it. */
export type ContentCheck = v.InferOutput<typeof contentCheck>;

/** Longer than a presigned upload or download is valid, and longer than any request takes. */
const delayInSeconds = 2 * 3600;

/**
 * Creates the check for content that is about to be written, uploaded or replaced. It is due in two hours.
 * @param now RFC 3339, UTC, milliseconds
 */
export function contentCheckItem(contentKey: string, now: string): Item & Key & ContentCheck {
  const dueAt = new Date(Date.parse(now) + delayInSeconds * 1000).toISOString();
  return { ...contentCheckKeys.check(dueAt, contentKey), content_key: contentKey };
}

/** Returns whether the check that was created at `createdAt` is due within this time from `now`. Both RFC 3339, UTC, milliseconds. */
export function isDueWithin(seconds: number, createdAt: string, now: string): boolean {
  return Date.parse(now) + seconds * 1000 > Date.parse(createdAt) + delayInSeconds * 1000;
}

export function putContentCheck(contentKey: string, now: string): Action {
  return { put: { Item: contentCheckItem(contentKey, now) } };
}

/** Removes the check, in the transaction that writes the row which names the content. */
export function dropContentCheck({ pk, sk }: ContentCheck): Action {
  return { delete: { Key: writableKey(pk, sk) } };
}

/**
 * Reads checks that are due at `now`, oldest first.
 * @param now RFC 3339, UTC, milliseconds
 * @param from the sort key to begin with, included. Default: the oldest check
 */
export async function dueContentChecks(table: Table, now: string, limit: number, from?: string): Promise<ContentCheck[]> {
  const shards = await Promise.all(
    contentCheckKeys.shards.map((shard) => queryBetween(table, ...contentCheckKeys.dueIn(shard, now, from), { limit })),
  );
  return shards
    .flat()
    .map((item) => parseStored(contentCheck, item, 'content check'))
    .sort((a, b) => (a.sk < b.sk ? -1 : 1)) // as the table orders them, so that reading on from a key leaves none out
    .slice(0, limit);
}
