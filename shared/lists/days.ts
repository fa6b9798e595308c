import { indexKeys } from '../table/keys.ts';
import * as v from 'valibot';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, putItems, type Table } from '../table/table.ts';
import type { DayCounts, Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import type { LogEntry } from './log.ts';
import { stateCount } from './node.ts';

const dayInMilliseconds = 24 * 60 * 60 * 1000;
/** The newest days change with most folds. They are only in the head. */
const daysInHead = 2;

/** Returns the days since 1970-01-01, UTC. */
export function dayOf(milliseconds: number): number {
  return Math.floor(milliseconds / dayInMilliseconds);
}

const storedDay = v.object({ counts: v.array(v.number()) });

/** Reads the counts of a day that the head does not contain. */
export function parseDay(item: unknown): number[] {
  return item === undefined
    ? new Array<number>(stateCount).fill(0)
    : parseStored(storedDay, item, 'day of the statistics').counts;
}

/** Returns the head's days with the statuses that computations entered since. */
export async function countDays(table: Table, index: ListIndex, head: Head, entries: readonly LogEntry[]): Promise<Head['days']> {
  const days: Head['days'] = { ...head.days };
  for (const { steps } of entries) {
    for (const { entered } of steps) {
      if (!entered) continue;
      const counted = days[entered.day]?.counts ?? parseDay(await getItem(table, indexKeys.day(index, entered.day)));
      const counts = counted.map((count, state) => count + Number(state === entered.state));
      days[entered.day] = { counts };
    }
  }
  return days;
}

/**
 * Moves days out of the head, in two steps: writes their items, and in a later fold leaves them out of the head. A reader that
 * has an older head and newer items, or the other way round, finds each day in one of them.
 * @param keptBefore the time before which a day must have been written to be left out, in milliseconds since 1970
 */
export async function moveOldDays(
  table: Table,
  index: ListIndex,
  days: Head['days'],
  { now, keptBefore }: { now: number; keptBefore: number },
): Promise<Head['days']> {
  const entries = Object.entries(days);
  const isOld = (day: string) => Number(day) <= dayOf(now) - daysInHead;
  const toKeep = entries.filter(([day, { kept_at }]) => isOld(day) && kept_at === undefined);
  await putItems(
    table,
    toKeep.map(([day, { counts }]) => ({ ...indexKeys.day(index, Number(day)), counts })),
  );
  const kept = new Map<string, DayCounts>(toKeep.map(([day, { counts }]) => [day, { counts, kept_at: now }]));
  const remaining = entries.filter(([, { kept_at }]) => kept_at === undefined || kept_at >= keptBefore);
  return Object.fromEntries(remaining.map(([day, counts]) => [day, kept.get(day) ?? counts]));
}
