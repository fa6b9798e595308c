import type { Schemas } from 'computation-management-client';

type Entry = Schemas['StatisticsEntry'];
type Status = Entry['status'];

export interface DailyCounts {
  /** The UTC days of the statistics, oldest first, such as `2026-01-31`. */
  days: string[];
  /** The statuses that computations entered on the days, each with its count on each of the `days`. */
  series: { status: Status; counts: number[]; total: number }[];
}

const statuses: readonly Status[] = ['created', 'running', 'stopping', 'completed', 'failed', 'cancelled'];
const dayInMilliseconds = 86_400_000;

/** Returns how often computations entered each status on each of `count` days up to `today`, with 0 where the service lists nothing. */
export function dailyCounts(entries: readonly Entry[], { today, count }: { today: Date; count: number }): DailyCounts {
  const days = Array.from({ length: count }, (_, index) =>
    new Date(today.getTime() - (count - 1 - index) * dayInMilliseconds).toISOString().slice(0, 10),
  );
  const byKey = new Map(entries.map((entry) => [`${entry.day} ${entry.status}`, entry.count]));
  const series = statuses.map((status) => {
    const counts = days.map((day) => byKey.get(`${day} ${status}`) ?? 0);
    return { status, counts, total: counts.reduce((sum, each) => sum + each, 0) };
  });
  return { days, series: series.filter(({ total }) => total > 0) };
}
