import { BarChart } from '@cloudscape-design/components';
import { statusText } from '../show/index.ts';
import type { dailyCounts } from './daily-counts.ts';

type Counts = ReturnType<typeof dailyCounts>;

/** The colours of the statuses: visible on light and dark backgrounds, and distinguishable without telling red from green. */
const colors: Record<Counts['series'][number]['status'], string> = {
  created: '#8d99a8',
  running: '#688ae8',
  stopping: '#b088f5',
  completed: '#2ea597',
  failed: '#d63f38',
  cancelled: '#c27a12',
};

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Shows how often computations entered each status on each day, as bars stacked by status. */
export function StatusChart({ counts: { days, series } }: { counts: Counts }) {
  return (
    <BarChart<string>
      ariaLabel="Computations by day and status"
      ariaDescription="A stacked bar for each day. The table below has the totals."
      stackedBars
      hideFilter
      height={280}
      xScaleType="categorical"
      xTitle="Day"
      yTitle="Computations"
      xDomain={days}
      yTickFormatter={(count) => (Number.isInteger(count) ? count.toLocaleString('en') : '')} // no halves of a computation
      xTickFormatter={(day) => dayFormat.format(new Date(day))}
      series={series.map(({ status, counts }) => ({
        type: 'bar',
        title: statusText(status),
        color: colors[status],
        data: days.map((day, index) => ({ x: day, y: counts[index] ?? 0 })),
      }))}
      i18nStrings={{ legendAriaLabel: 'Statuses', chartAriaRoleDescription: 'bar chart' }}
    />
  );
}
