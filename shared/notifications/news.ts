import { randomUUID } from 'node:crypto';
import { inParallel } from '../runtime/in-parallel.ts';
import { mailKeys } from '../table/keys.ts';
import { hashOfUser } from '../table/row-lists.ts';
import { getItemsOf, type Table } from '../table/table.ts';
import { setAttributes, tryUpdate } from '../table/writes.ts';

/** The kinds of news that a mail tells a user. Each kind has a limit of its own. */
export const kindsOfNews = ['tasks', 'invitations'] as const;
export type KindOfNews = (typeof kindsOfNews)[number];

/** Something that begins to wait for a user. */
export interface News {
  userId: string;
  kind: KindOfNews;
}

const keptForSeconds = 7 * 24 * 3600;

/**
 * Makes a change by which something begins to wait for users, and notes it for those who get mail in the domain: before the change, so that no
 * crash loses it, and after it, in case that a mail has counted meanwhile. One read, and two writes for each of them, which conflict with no
 * transaction.
 * @param now RFC 3339, UTC, milliseconds
 */
export async function withNews(
  table: Table,
  { domain, news, now }: { domain: string; news: readonly News[]; now: string },
  change: () => Promise<void>,
): Promise<void> {
  const wishes = await getItemsOf(table, news, ({ userId }) => mailKeys.wish(domain, hashOfUser(userId)));
  const wished = news.filter((_, index) => wishes[index]);
  const note = () => inParallel(wished, (each) => noteOne(table, domain, each, now));
  await note();
  await change();
  await note();
}

async function noteOne(table: Table, domain: string, { userId, kind }: News, now: string): Promise<void> {
  const hash = hashOfUser(userId);
  const changes = { domain_id: domain, user_hash: hash, kind, noted: randomUUID(), ttl: secondsOf(now) + keptForSeconds };
  const { UpdateExpression, ExpressionAttributeValues, ...names } = setAttributes(changes);
  await tryUpdate(table, mailKeys.news(domain, hash, kind), {
    ...names,
    UpdateExpression: `${UpdateExpression}, first_at = if_not_exists(first_at, :now)`,
    ExpressionAttributeValues: { ...ExpressionAttributeValues, ':now': now },
  });
}

const secondsOf = (now: string) => Math.ceil(Date.parse(now) / 1_000);
