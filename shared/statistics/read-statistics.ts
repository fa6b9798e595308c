import { described, namedObject } from 'computation-management-formats/fields';
import { dayOf } from 'computation-management-counted-list';
import { computationStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { openList, rowLists } from '../table/row-lists.ts';
import type { Table } from '../table/table.ts';

export const statisticsEntry = namedObject('StatisticsEntry', 'How many computations entered a status on a day.', {
  day: v.pipe(v.string(), v.description('A UTC day.'), v.metadata({ format: 'date', maxLength: 10, examples: ['2025-07-17'] })),
  status: described(v.picklist(computationStatuses), 'The status that computations entered.'),
  count: v.pipe(v.number(), v.integer(), v.description('The number of times that a computation entered the status.')),
});
export type StatisticsEntry = v.InferOutput<typeof statisticsEntry>;

/**
 * Counts how many computations of a domain entered each status on each of the last UTC days, including today, sorted by day and
 * status. One round trip.
 * @param days 1 to 366
 * @param now RFC 3339, UTC, milliseconds
 */
export async function readStatistics(table: Table, domain: string, days: number, now: string): Promise<StatisticsEntry[]> {
  const list = rowLists.computations(domain);
  const today = dayOf(Date.parse(now));
  const counted = await openList(table, list).days(today - days + 1, today);
  return counted.flatMap(({ day, counts }) =>
    [...computationStatuses].sort().flatMap((status) => {
      const count = counts[list.states[status]] ?? 0;
      return count > 0 ? [{ day: dateOf(day), status, count }] : [];
    }),
  );
}

/** Returns a day of the statistics as a date such as `2025-07-17`. @param day days since 1970-01-01 */
function dateOf(day: number): string {
  return new Date(day * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
}
