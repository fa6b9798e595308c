import { Box, Container, SegmentedControl } from '@cloudscape-design/components';
import { FactTable } from '../lists/index.ts';
import { LoadedView, useLoaded } from '../loading/index.ts';
import { addressOf, navigate, useAddress } from '../routing/index.ts';
import { useDomain } from '../access/index.ts';
import { Panel, ScreenFrame } from '../frame/index.ts';
import { serviceNow, Status } from '../show/index.ts';
import { dailyCounts } from './daily-counts.ts';
import { StatusChart } from './status-chart.tsx';

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
