import * as v from 'valibot';
import type { Kms } from '../runtime/clients.ts';
import { inParallel } from '../runtime/in-parallel.ts';
import { log } from '../runtime/log.ts';
import { mailKeys } from '../table/keys.ts';
import { openList, rowLists, type TaskList } from '../table/row-lists.ts';
import { parseStored } from '../table/stored.ts';
import { deadlineOf, getItem, queryPartition, type Table } from '../table/table.ts';
import { deleteItemIf, hasAttributes, isAbsent, putItemIf } from '../table/writes.ts';
import { type Mailer, NotSentError, RefusedError, withoutAddresses } from './mailer.ts';
import { type KindOfNews, kindsOfNews } from './news.ts';
import { recipientIn, unsubscribeSecret } from './wishes.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/** The time in milliseconds for which news waits before a mail tells of it: the change that it is about is made by then. */
const settlesInMilliseconds = 5 * second;

/** The limits of mail to a user, over all domains: the shortest time between two, and the most in 24 hours. */
const shortestPauseInMilliseconds = 10 * minute;
const mostInADay = 10; // defence
/** The time in milliseconds for which nothing is sent to an address that the server has refused. */
const pauseOfRefusedInMilliseconds = 60 * minute;

const storedNews = v.object({
  domain_id: v.string(),
  user_hash: v.string(),
  kind: v.picklist(kindsOfNews),
  first_at: v.string(),
  noted: v.string(),
});
type StoredNews = v.InferOutput<typeof storedNews>;

const storedSent = v.object({
  version: v.number(),
  /** The times at which mails were sent in the last 24 hours, oldest first. */
  times: v.array(v.string()),
  /** The time at which a mail last told of invitations. */
  invited_at: v.nullable(v.string()),
  /** The time at which a mail was last sent, or could not be sent. Of a refused address: the time from which the shortest pause counts. */
  tried_at: v.string(),
});
type Sent = v.InferOutput<typeof storedSent>;

interface Services {
  table: Table;
  kms: Kms;
  mailer: Mailer;
}

const mailsAtOnce = 4;
/** The failures after which a call gives up: then the server is dead, and each mail would wait for it. A refused address tells nothing. */
const mostFailures = 5;
/** The time in milliseconds after which a call begins no further mail. */
const longestCallInMilliseconds = minute;

/**
 * Sends the mails that are due. To be called each minute. News that cannot be told yet, because of a limit or a failure, waits up to 7 days.
 * @returns the number of mails sent
 * @throws Error if a mail failed, after all others
 */
export async function sendMails(services: Services, now: string): Promise<number> {
  const { table } = services;
  const latest = new Date(Date.parse(now) - settlesInMilliseconds).toISOString();
  const shards = await Promise.all(mailKeys.newsShards.map((shard) => queryPartition(table, shard)));
  const news = shards.flat().map((item) => parseStored(storedNews, item, 'news'));
  const due = news.filter(({ first_at }) => first_at <= latest);
  const groups = [...Map.groupBy(due, ({ domain_id, user_hash }) => `${domain_id} ${user_hash}`).values()];
  const first = Math.floor(Math.random() * groups.length); // another in each call: those that fail keep nobody from being tried
  let [sent, refused, failures] = [0, 0, 0];
  const begun = deadlineOf(table);
  await inParallel(
    [...groups.slice(first), ...groups.slice(0, first)],
    async (group) => {
      if (failures >= mostFailures || begun.elapsed > longestCallInMilliseconds) return;
      try {
        if (await tell(services, group, now)) sent += 1;
      } catch (error) {
        if (error instanceof RefusedError) refused += 1;
        else failures += 1;
        const reason = withoutAddresses(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
        log('ERROR', 'A mail was not sent. It is tried again.', { reason });
      }
    },
    mailsAtOnce,
  );
  if (refused + failures > 0) throw new Error(`${refused + failures} mails were not sent.`);
  return sent;
}

/**
 * Sends a user a mail about news in a domain, if there is still something to tell and the limits allow it. The limits count the mail before it is
 * sent, so that a crash sends too few rather than too many. The news goes only after it was told.
 */
async function tell({ table, kms, mailer }: Services, group: readonly StoredNews[], now: string): Promise<boolean> {
  const [{ domain_id: domain, user_hash: hash } = { domain_id: '', user_hash: '' }] = group;
  const [wish, found] = await Promise.all([getItem(table, mailKeys.wish(domain, hash)), getItem(table, mailKeys.sent(hash))]);
  if (!wish) {
    await forget(table, group);
    return false;
  }
  const before: Sent = found ? parseStored(storedSent, found, 'times of mails') : noneSent;
  const isLater = (time: string | null, milliseconds: number) =>
    time !== null && Date.parse(now) - Date.parse(time) < milliseconds;
  const times = before.times.filter((time) => isLater(time, day));
  if (isLater(before.tried_at, shortestPauseInMilliseconds) || times.length >= mostInADay) return false;
  const told = group.filter(({ kind }) => kind === 'tasks' || !isLater(before.invited_at, day));
  const { userId, openAddress } = recipientIn(wish, domain);
  const counted = await Promise.all(told.map(async ({ kind }) => ({ kind, count: await countOf(table, domain, userId, kind) })));
  const counts = counted.filter(({ count }) => count > 0);
  if (counts.length === 0) {
    await forget(table, told);
    return false;
  }
  const to = await openAddress(kms);
  const unsubscribeUrl = `${mailer.api}/unsubscribe/${await unsubscribeSecret(table, kms, domain, hash)}`;
  const isInvited = counts.some(({ kind }) => kind === 'invitations');
  const after = { times: [...times, now], invited_at: isInvited ? now : before.invited_at, tried_at: now };
  if (!(await keepSent(table, hash, before.version, after))) return false;
  try {
    await mailer.send({ to, unsubscribeUrl, ...textOf(counts, { page: mailer.page, unsubscribeUrl }) });
  } catch (error) {
    if (error instanceof NotSentError) {
      const pause = error instanceof RefusedError ? pauseOfRefusedInMilliseconds - shortestPauseInMilliseconds : 0;
      const tried_at = new Date(Date.parse(now) + pause).toISOString();
      await keepSent(table, hash, before.version + 1, { times, invited_at: before.invited_at, tried_at });
    }
    throw error;
  }
  await forget(table, told);
  return true;
}

const noneSent: Sent = { version: 0, times: [], invited_at: null, tried_at: new Date(0).toISOString() };

async function keepSent(table: Table, hash: string, version: number, sent: Omit<Sent, 'version'>): Promise<boolean> {
  const ttl = Math.ceil((Date.parse(sent.tried_at) + day) / 1_000);
  const item = { ...mailKeys.sent(hash), ...sent, version: version + 1, ttl };
  return await putItemIf(table, item, version === 0 ? isAbsent : hasAttributes({ version }));
}

/** Forgets news that was told, unless more came meanwhile. */
async function forget(table: Table, news: readonly StoredNews[]): Promise<void> {
  await Promise.all(
    news.map(({ domain_id, user_hash, kind, noted }) =>
      deleteItemIf(table, mailKeys.news(domain_id, user_hash, kind), hasAttributes({ noted })),
    ),
  );
}

/** The lists of what waits for a user that a mail counts, by the kind of news. */
const counted: Record<KindOfNews, readonly TaskList[]> = {
  tasks: ['approvals', 'keys', 'content', 'reviews', 'refusals'],
  invitations: ['invitations'],
};

async function countOf(table: Table, domain: string, userId: string, kind: KindOfNews): Promise<number> {
  const pages = counted[kind].map((list) => openList(table, rowLists.tasks(domain, userId, list)).page({ limit: 1, offset: 0 }));
  return (await Promise.all(pages)).reduce((sum, { total }) => sum + total, 0);
}

const words: Record<KindOfNews, [one: string, more: string]> = {
  tasks: ['task', 'tasks'],
  invitations: ['invitation', 'invitations'],
};

/** Returns the subject and the text of a mail: counts and links, and no name of anything. */
function textOf(
  counts: readonly { kind: KindOfNews; count: number }[],
  { page, unsubscribeUrl }: { page: string; unsubscribeUrl: string },
): { subject: string; text: string } {
  const parts = counts.map(({ kind, count }) => `${count} ${words[kind][count === 1 ? 0 : 1]}`);
  const isOne = counts.reduce((sum, { count }) => sum + count, 0) === 1;
  const subject = `${parts.join(' and ')} ${isOne ? 'waits' : 'wait'} for you`;
  return { subject, text: `${subject}:\n${page}\n\nTo get no more mail about this domain:\n${unsubscribeUrl}\n` };
}
