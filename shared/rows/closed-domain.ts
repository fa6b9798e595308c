import * as v from 'valibot';
import { limitKeys } from '../table/keys.ts';
import { type Table, getItem } from '../table/table.ts';
import { deleteItems, putItem } from '../table/writes.ts';
import { parseStored } from '../table/stored.ts';

/**
 * Schema of the attributes that close a domain while it is removed, in milliseconds since the Unix epoch. Changes in the domain
 * leave both attributes as they are. A removal that was never completed counts until `closed_until`.
 */
const closing = v.object({ closed_at: v.optional(v.number()), closed_until: v.optional(v.number()) });

/**
 * The time after the closing of a domain when no change in it is in progress any more, in milliseconds. A function may use
 * tokens of the domain's limit for ten seconds after it took them, and a request takes up to 30.
 */
export const changesEndInMilliseconds = 45_000;

/**
 * The time for completing the removal of a domain after the last access token of its users has expired: 7 days. Then the item
 * expires, so that nobody stays locked out.
 */
const graceInMilliseconds = 7 * 24 * 3_600_000;

/**
 * Empties the bucket of a domain, so that its changes get 429. Has no effect in a stage without a `domainLimit`.
 * @param now milliseconds since the Unix epoch
 * @param fromNow whether a domain that is closed already counts as closed from now on
 * @returns since when it is closed
 */
export async function closeDomain(
  table: Table,
  domain: string,
  { now, fromNow, tokensLiveInSeconds }: { now: number; fromNow: boolean; tokensLiveInSeconds: number },
): Promise<number> {
  const closed_at = (fromNow ? undefined : await closedAt(table, domain, now)) ?? now;
  const full_at = now + tokensLiveInSeconds * 1_000 + graceInMilliseconds;
  await putItem(table, {
    ...limitKeys.changes(domain),
    full_at,
    closed_at,
    closed_until: full_at,
    ttl: Math.ceil(full_at / 1_000),
  });
  return closed_at;
}

/**
 * Reads since when a domain is closed for its removal, in milliseconds since the Unix epoch. Returns undefined if the domain is
 * open.
 */
export async function closedAt(table: Table, domain: string, now: number): Promise<number | undefined> {
  const item = await getItem(table, limitKeys.changes(domain));
  const { closed_at, closed_until = 0 } = item ? parseStored(closing, item, 'limit of a domain') : {};
  return closed_until > now ? closed_at : undefined;
}

/** Allows changes in a domain again that was closed for its removal. */
export async function openDomain(table: Table, domain: string): Promise<void> {
  await deleteItems(table, [limitKeys.changes(domain)]);
}
