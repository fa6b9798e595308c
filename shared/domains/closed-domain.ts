import * as v from 'valibot';
import { limitKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Table } from '../table/table.ts';
import { deleteItems, putItem } from '../table/writes.ts';

/**
 * Changes of the domain leave both as they are, so a removal that was never completed stays readable: it counts until `closed_until`.
 */
const closing = v.object({ closed_at: v.optional(v.number()), closed_until: v.optional(v.number()) });

/** Functions may use tokens of the domain's limit for ten seconds after they took them, and a request takes up to 30. */
export const changesEndInMilliseconds = 45_000;

/**
 * The time after the last token has expired in which a removal can be completed. DynamoDB deletes the item after it, so that a removal
 * that is never completed locks nobody out.
 */
const graceInMilliseconds = 7 * 24 * 3_600_000;

/**
 * Refuses the changes of a domain with 429 in a stage with a `domainLimit`: its bucket is emptied for the time of the removal. Has no
 * effect in a stage without. Requests that came before may change something for another 45 seconds.
 * @param now milliseconds since the Unix epoch
 * @param fromNow whether a domain that is already closed counts as closed from now on
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

/** Returns when the domain was closed, in milliseconds since the Unix epoch. Undefined if it is open now. */
export async function closedAt(table: Table, domain: string, now: number): Promise<number | undefined> {
  const item = await getItem(table, limitKeys.changes(domain));
  const { closed_at, closed_until = 0 } = item ? parseStored(closing, item, 'limit of a domain') : {};
  return closed_until > now ? closed_at : undefined;
}

/** Opens the domain again, as an empty one. */
export async function openDomain(table: Table, domain: string): Promise<void> {
  await deleteItems(table, [limitKeys.changes(domain)]);
}
