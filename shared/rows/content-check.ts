import * as v from 'valibot';
import { type Table, type Item, queryBetween } from '../table/table.ts';
import { contentCheckKeys, writableKey, type Key } from '../table/keys.ts';
import type { Action } from '../table/transaction.ts';
import { parseStored } from '../table/stored.ts';

const contentCheck = v.object({ pk: v.string(), sk: v.string(), content_key: v.string(), is_last: v.optional(v.literal(true)) });

export type ContentCheck = v.InferOutput<typeof contentCheck>;

/** Longer than a presigned link is valid. */
const delayInSeconds = 2 * 3600;

/** For content that is about to be written, uploaded or replaced. Due in two hours. */
export function contentCheckItem(contentKey: string, now: string): Item & Key & ContentCheck {
  const dueAt = new Date(Date.parse(now) + delayInSeconds * 1000).toISOString();
  return { ...contentCheckKeys.check(dueAt, contentKey), content_key: contentKey };
}

export function isDueWithin(seconds: number, createdAt: string, now: string): boolean {
  return Date.parse(now) + seconds * 1000 > Date.parse(createdAt) + delayInSeconds * 1000;
}

export function putContentCheck(contentKey: string, now: string): Action {
  return { put: { Item: contentCheckItem(contentKey, now) } };
}

/** A day later, of an upload that has not arrived: it may have begun before its link expired. */
export function putLastCheck(contentKey: string, now: string): Action {
  const aDayLater = new Date(Date.parse(now) + 24 * 3_600_000).toISOString();
  return { put: { Item: { ...contentCheckItem(contentKey, aDayLater), is_last: true } } };
}

export function dropContentCheck({ pk, sk }: ContentCheck): Action {
  return { delete: { Key: writableKey(pk, sk) } };
}

/** Oldest first. @param from the sort key to begin with, included */
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
