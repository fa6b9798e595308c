import { expect, it } from 'vitest';
import { dailyCounts } from '../../../../packages/console/statistics/daily-counts.ts';

const today = new Date('2026-03-02T00:30:00Z');

it('daily counts have every day of the range, in order, and 0 where nothing happened', () => {
  const entries = [
    { day: '2026-02-28', status: 'failed' as const, count: 2 },
    { day: '2026-03-02', status: 'completed' as const, count: 5 },
    { day: '2026-03-02', status: 'failed' as const, count: 1 },
  ];
  expect(dailyCounts(entries, { today, count: 3 })).toEqual({
    days: ['2026-02-28', '2026-03-01', '2026-03-02'],
    series: [
      { status: 'completed', counts: [0, 0, 5], total: 5 },
      { status: 'failed', counts: [2, 0, 1], total: 3 },
    ],
  });
});

it('without entries there are days and no series', () => {
  const { days, series } = dailyCounts([], { today, count: 366 });
  expect(days).toHaveLength(366);
  expect(days[0]).toBe('2025-03-02');
  expect(series).toEqual([]);
});
