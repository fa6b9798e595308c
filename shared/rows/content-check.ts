import * as v from 'valibot';
import { type Table, type Item, queryBetween } from '../table/table.ts';
import { contentCheckKeys, writableKey, type Key } from '../table/keys.ts';
import type { Action } from '../table/transaction.ts';
import { parseStored } from '../table/stored.ts';

const contentCheck = v.object({
  pk: v.string(),
  sk: v.string(),
  content_key: v.string(),
  is_last: v.optional(v.literal(true)),
  is_expiry: v.optional(v.literal(true)),
});

/** A reminder to check later whether stored content is still used by an asset. */
export type ContentCheck = v.InferOutput<typeof contentCheck>;

/**
 * The time after which the service checks whether stored content is used by an asset, in seconds. It is longer than a presigned
 * link is valid.
 */
const delayInSeconds = 2 * 3600;

/**
 * Returns the item that makes the service check in two hours whether an asset uses this content, and delete the content
 * otherwise. Write it before content is written, uploaded or replaced.
 */
export function contentCheckItem(contentKey: string, now: string): Item & Key & ContentCheck {
  const dueAt = new Date(Date.parse(now) + delayInSeconds * 1000).toISOString();
  return { ...contentCheckKeys.check(dueAt, contentKey), content_key: contentKey };
}

/** Returns whether the check of content that was created at `createdAt` is due within the given number of seconds from `now`. */
export function isDueWithin(seconds: number, createdAt: string, now: string): boolean {
  return Date.parse(now) + seconds * 1000 > Date.parse(createdAt) + delayInSeconds * 1000;
}

/** Returns the action that makes the service check content in two hours: see `contentCheckItem`. */
export function putContentCheck(contentKey: string, now: string): Action {
  return { put: { Item: contentCheckItem(contentKey, now) } };
}

/**
 * Returns the action that checks an upload that has not arrived once more, a day later: the upload may have begun before its link
 * expired.
 */
export function putLastCheck(contentKey: string, now: string): Action {
  const aDayLater = new Date(Date.parse(now) + 24 * 3_600_000).toISOString();
  return { put: { Item: { ...contentCheckItem(contentKey, aDayLater), is_last: true } } };
}

/** Returns the action that makes the service delete the content of a released result, with its asset, after the given days. */
export function putExpiry(contentKey: string, days: number, now: string): Action {
  const due = new Date(Date.parse(now) + days * 24 * 3_600_000).toISOString();
  return { put: { Item: { ...contentCheckItem(contentKey, due), is_expiry: true } } };
}

/** Returns the action that removes the reminder to check whether stored content is used by an asset. */
export function dropContentCheck({ pk, sk }: ContentCheck): Action {
  return { delete: { Key: writableKey(pk, sk) } };
}

/**
 * Reads the reminders to check whether stored content is used that are due, the oldest first.
 * @param from the sort key of the first reminder to read. Default: the oldest
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
