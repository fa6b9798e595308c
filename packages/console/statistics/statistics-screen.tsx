import { BarChart, Box, Container, SegmentedControl } from '@cloudscape-design/components';
import { FactTable } from '../lists/index.ts';
import { LoadedView, useLoaded } from '../loading/index.ts';
import { addressOf, navigate, useAddress } from '../routing/index.ts';
import { useDomain } from '../access/index.ts';
import { Panel, ScreenFrame } from '../frame/index.ts';
import { serviceNow, Status, statusText } from '../show/index.ts';
import { dailyCounts } from './daily-counts.ts';

const ranges = [7, 30, 90, 366] as const;

/** Shows how often computations entered each status on each UTC day. */
export function StatisticsScreen() {
  const { client, domain } = useDomain();
  const { query } = useAddress();
  const days = ranges.find((range) => String(range) === query.get('days')) ?? 7;
  const loaded = useLoaded(`${domain} ${days}`, async (signal) => {
    const { comp_stats } = await client.getStatistics({ days, signal });
    return dailyCounts(comp_stats, { today: new Date(serviceNow()), count: days });
  });
  return (
    <ScreenFrame
      title="Statistics"
      description="How often computations entered each status on each day (UTC)."
      above={[]}
      loaded={loaded}
    >
      <SegmentedControl
        label="Range"
        selectedId={String(days)}
        options={ranges.map((range) => ({ id: String(range), text: range === 366 ? 'One year' : `${range} days` }))}
        onChange={({ detail }) => navigate(addressOf({ screen: 'statistics', domain }, { days: detail.selectedId }))}
      />
      <LoadedView loaded={loaded} what="the statistics">
        {(counts) =>
          counts.series.length === 0 ? (
            <Container>
              <Box textAlign="center" padding="l">
                Nothing happened in these {days} days.
              </Box>
            </Container>
          ) : (
            <>
              <Panel title="By day and status">
                <StatusChart counts={counts} />
              </Panel>
              <FactTable
                title="In total"
                items={counts.series}
                rowKey={({ status }) => status}
                columns={[
                  { header: 'Status', isRowHeader: true, cell: ({ status }) => <Status status={status} /> },
                  { header: 'Times entered', isPrimary: true, cell: ({ total }) => total.toLocaleString('en') },
                ]}
              />
            </>
          )
        }
      </LoadedView>
    </ScreenFrame>
  );
}

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
function StatusChart({ counts: { days, series } }: { counts: Counts }) {
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
