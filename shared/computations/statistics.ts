import { computationStatuses, type ComputationStatus } from './computation.ts';
import { statisticsKeys } from '../table/keys.ts';
import { queryBetween, type Table } from '../table/table.ts';
import { type Action } from '../table/transaction.ts';
import type { StatisticsEntry } from './statistics-entry.ts';

/** Returns the action that counts a computation's new status. It belongs into the transaction that changes the status. */
export function countTransition(domain: string, status: ComputationStatus, now: string): Action {
  return {
    update: {
      Key: statisticsKeys.day(domain, utcDay(now)),
      UpdateExpression: 'ADD #status :one',
      ExpressionAttributeNames: { '#status': status },
      ExpressionAttributeValues: { ':one': 1 },
    },
  };
}

const dayInMilliseconds = 24 * 60 * 60 * 1000;

/** Reads the last `days` UTC days, including today, sorted by day and status. One item per day, one round trip. */
export async function readStatistics(table: Table, domain: string, days: number, now: string): Promise<StatisticsEntry[]> {
  const first = utcDay(new Date(Date.parse(now) - (days - 1) * dayInMilliseconds).toISOString());
  const items = await queryBetween(table, statisticsKeys.day(domain, first), statisticsKeys.day(domain, utcDay(now)));
  return items.flatMap((item) =>
    [...computationStatuses]
      .sort()
      .flatMap((status) => (item[status] ? [{ day: String(item['sk']), status, count: Number(item[status]) }] : [])),
  );
}

function utcDay(timestamp: string): string {
  return timestamp.slice(0, 10);
}
