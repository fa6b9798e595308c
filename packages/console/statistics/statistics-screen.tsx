import { Box, Button, Container, SegmentedControl } from '@cloudscape-design/components';
import { lazy, Suspense } from 'react';
import { FactTable } from '../lists/columns.tsx';
import { LoadedView } from '../loading/problem-alert.tsx';
import { useLoaded } from '../loading/use-loaded.ts';
import { navigate, useAddress } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';
import { ScreenFrame, Panel } from '../frame/screen-frame.tsx';
import { serviceNow } from '../show/service-clock.ts';
import { Status } from '../show/status.tsx';
import { dailyCounts } from './daily-counts.ts';

const StatusChart = lazy(async () => ({ default: (await import('./status-chart.tsx')).StatusChart }));

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
      actions={<Button iconName="refresh" ariaLabel="Refresh" loading={loaded.isLoading} onClick={loaded.reload} />}
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
                <Suspense fallback={<Box padding="xxxl" />}>
                  <StatusChart counts={counts} />
                </Suspense>
              </Panel>
              <FactTable
                title="In total"
                items={counts.series}
                rowKey={({ status }) => status}
                columns={[
                  { id: 'status', header: 'Status', isRowHeader: true, cell: ({ status }) => <Status status={status} /> },
                  { id: 'total', header: 'Times entered', cell: ({ total }) => total.toLocaleString('en') },
                ]}
              />
            </>
          )
        }
      </LoadedView>
    </ScreenFrame>
  );
}
