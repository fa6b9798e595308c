import type { Schemas } from 'computation-management-client';
import { computationStatuses } from 'computation-management-formats/vocabulary';

const dayInMilliseconds = 86_400_000;

/**
 * Returns the `count` UTC days up to `today`, oldest first, such as `2026-01-31`, and how often computations entered each status on each of
 * them: 0 where the service lists nothing. A status that no computation entered is left out.
 */
export function dailyCounts(entries: readonly Schemas['StatisticsEntry'][], { today, count }: { today: Date; count: number }) {
  const days = Array.from({ length: count }, (_, index) =>
    new Date(today.getTime() - (count - 1 - index) * dayInMilliseconds).toISOString().slice(0, 10),
  );
  const byKey = new Map(entries.map((entry) => [`${entry.day} ${entry.status}`, entry.count]));
  const series = computationStatuses.map((status) => {
    const counts = days.map((day) => byKey.get(`${day} ${status}`) ?? 0);
    return { status, counts, total: counts.reduce((sum, each) => sum + each, 0) };
  });
  return { days, series: series.filter(({ total }) => total > 0) };
}
