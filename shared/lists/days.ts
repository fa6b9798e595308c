import * as v from 'valibot';
import { inParallel } from '../runtime/in-parallel.ts';
import { indexKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { clockOf, getItems, queryBetween, type Item, type Table } from '../table/table.ts';
import { putItemIf } from '../table/writes.ts';
import type { DayCounts, Head } from './head.ts';
import type { IndexedList } from './indexed-list.ts';
import type { ListIndex, LogEntry } from './log.ts';
import { emptyCounts } from './node.ts';
import { TornReadError, withSnapshot, type Snapshot } from './snapshot.ts';

const dayInMilliseconds = 24 * 60 * 60 * 1000;
/** The newest days change with most folds. They are only in the head. */
const daysInHead = 2;
/** The most days that a fold moves: a fold may run within a request. */
const daysPerFold = 100;
const writesAtOnce = 25;

/** Returns the days since 1970-01-01, UTC. */
export function dayOf(milliseconds: number): number {
  return Math.floor(milliseconds / dayInMilliseconds);
}

const storedDay = v.object({
  counts: v.array(v.number()),
  /** The version of a head that had these counts. */
  head: v.number(),
});

function parseStoredDay(item: unknown): v.InferOutput<typeof storedDay> {
  return item === undefined ? { counts: emptyCounts(), head: 0 } : parseStored(storedDay, item, 'day of the statistics');
}

/** Reads the counts of a day that the head does not contain. */
export function parseDay(item: unknown): number[] {
  return parseStoredDay(item).counts;
}

/**
 * Returns the head's days with the statuses that computations entered since.
 * @param stored returns the counts of a day that the head does not contain
 */
export function countDays(inHead: Head['days'], entries: readonly LogEntry[], stored: (day: number) => number[]): Head['days'] {
  const days: Head['days'] = { ...inHead };
  for (const { entered } of entries.flatMap(({ steps }) => steps)) {
    if (!entered) continue;
    const counted = days[entered.day]?.counts ?? stored(entered.day);
    days[entered.day] = { counts: counted.map((count, state) => count + Number(state === entered.state)) };
  }
  return days;
}

function isOld(day: string, now: number): boolean {
  return Number(day) <= dayOf(now) - daysInHead;
}

/** Returns whether a fold would move days out of the head. */
export function hasOldDays({ days }: Head, now: number): boolean {
  return Object.keys(days).some((day) => isOld(day, now));
}

/**
 * Moves days out of the head, in two steps: writes their items, and in a later fold leaves them out of the head. A reader that
 * has an older head and newer items, or the other way round, finds each day in one of them. An item contains only what a head
 * contained before: a fold that dies would otherwise leave changes in it that are still in the log too.
 * @param moved.head the version of the head that the fold replaces
 * @param moved.days the days of that head, and as they are now
 * @param keptBefore the time before which a day must have been written to be left out, in milliseconds since 1970
 */
export async function moveOldDays(
  table: Table,
  index: ListIndex,
  { head, days }: { head: number; days: { before: Head['days']; now: Head['days'] } },
  { now, keptBefore }: { now: number; keptBefore: number },
): Promise<Head['days']> {
  const entries = Object.entries(days.now);
  const toKeep = entries
    .filter(([day, counts]) => isOld(day, now) && counts.kept_at === undefined && counts === days.before[day])
    .slice(0, daysPerFold);
  // A fold that was slow must not replace what a later one has written. Its own head is never committed.
  const isNewer = {
    ConditionExpression: 'attribute_not_exists(head) OR head < :head',
    ExpressionAttributeValues: { ':head': head },
  };
  const keep = async ([day, { counts }]: [string, DayCounts]) => {
    await putItemIf(table, { ...indexKeys.day(index, Number(day)), counts, head }, isNewer);
  };
  await inParallel(toKeep, keep, writesAtOnce);
  // A read that does not see the items has begun before this time.
  const kept_at = clockOf(table).now();
  const kept = new Map<string, DayCounts>(toKeep.map(([day, { counts }]) => [day, { counts, kept_at }]));
  const remaining = entries.filter(([, { kept_at }]) => kept_at === undefined || kept_at >= keptBefore);
  return Object.fromEntries(remaining.map(([day, counts]) => [day, kept.get(day) ?? notAhead(counts, now)]));
}

/** Returns the counts of a day that need not wait for `kept_at` if the clock has been set back since. */
function notAhead(counts: DayCounts, now: number): DayCounts {
  return counts.kept_at !== undefined && counts.kept_at > now ? { ...counts, kept_at: now } : counts;
}

/** Reads the days of the entries' steps that the head does not contain. @returns the counts of a day, by state */
export async function readDaysNotIn(
  table: Table,
  index: ListIndex,
  inHead: Head['days'],
  entries: readonly LogEntry[],
): Promise<(day: number) => number[]> {
  const days = entries.flatMap(({ steps }) => steps.flatMap(({ entered }) => entered?.day ?? []));
  const missing = [...new Set(days)].filter((day) => !(day in inHead));
  const items = await getItems(
    table,
    missing.map((day) => indexKeys.day(index, day)),
  );
  const counts = new Map(missing.map((day, at) => [day, parseDay(items[at])]));
  return (day) => counts.get(day) ?? emptyCounts();
}

/** Reads the counts of days that have any, oldest first, each with its UTC date. One round trip. */
export function readDays(
  table: Table,
  { index }: IndexedList,
  { first, last }: { first: number; last: number },
): Promise<{ day: string; counts: number[] }[]> {
  const count = async ({ head, unfolded }: Snapshot, items: Item[] = []) => {
    const stored = new Map(items.map((item) => [dayOfKey(item), parseStoredDay(item)]));
    const kept = new Map([...stored].map(([day, { counts }]) => [day, counts]));
    const counted = countDays(head.days, unfolded, (day) => {
      // The item was written from a later head, so its counts may already contain steps that this head has not folded.
      if ((stored.get(day)?.head ?? 0) > head.version) {
        throw new TornReadError('A day of the statistics moved while it was read.');
      }
      return kept.get(day) ?? emptyCounts();
    });
    for (const [day, { counts }] of Object.entries(counted)) kept.set(Number(day), counts);
    return [...kept]
      .filter(([day]) => day >= first && day <= last)
      .sort(([a], [b]) => a - b)
      .map(([day, counts]) => ({ day: new Date(day * dayInMilliseconds).toISOString().slice(0, 10), counts }));
  };
  const alsoRead = () => queryBetween(table, indexKeys.day(index, first), indexKeys.day(index, last));
  return withSnapshot(table, index, count, { alsoRead });
}

export function dayOfKey(item: Item): number {
  return Number(String(item['sk']).slice(indexKeys.dayPrefix.length));
}
