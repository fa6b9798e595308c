import Link from '@cloudscape-design/components/link';
import type { Schemas } from 'computation-management-client';
import type { Column } from '../lists/columns.tsx';
import { FilterBar } from '../lists/filter-bar.tsx';
import { PagedTable } from '../lists/paged-table.tsx';
import { usePage } from '../lists/use-page.ts';
import { refreshSeconds } from '../loading/refresh-seconds.ts';
import { useAddress } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../shell/console-context.ts';
import { momentText } from '../show/moment.ts';
import { StatusIndicator } from '../show/status-indicator.tsx';
import { detailsText } from './event-details.ts';
import { eventMark, eventStatusText, eventText } from './event-look.ts';
import { EventTypeFilter } from './event-type-filter.tsx';

type Event = Schemas['Event'];

/** The journal of a computation, newest first. */
export function EventsTable({ id }: { id: string }) {
  const { domain } = useDomain();
  const { query } = useAddress();
  const page = usePage('listEvents', { id, event_type: query.get('type') ?? undefined }, { everySeconds: refreshSeconds.events });
  const columns: Column<Event>[] = [
    { id: 'time', header: 'Time', cell: ({ timestamp }) => momentText(timestamp) },
    {
      id: 'event',
      header: 'Event',
      isRowHeader: true,
      minWidth: 210,
      cell: (event) => (
        <StatusIndicator type={eventMark(event)}>
          {eventText(event.event_type)} {eventStatusText(event)}
        </StatusIndicator>
      ),
    },
    { id: 'originator', header: 'By', isSecondary: true, cell: ({ originator }) => originator },
    {
      id: 'details',
      header: 'Details',
      isSecondary: true,
      minWidth: 200,
      cell: ({ details }) => detailsText(details) || '-',
    },
    {
      id: 'run',
      header: 'Run',
      isSecondary: true,
      cell: ({ run_id }) =>
        run_id === '' ? '-' : <Link href={addressOf({ screen: 'run', domain, id, run: run_id })}>{run_id.slice(-8)}</Link>,
    },
  ];
  return (
    <PagedTable
      title="Events"
      variant="container"
      page={page}
      columns={columns}
      rowKey={(event) => event.id}
      query={query}
      filterNames={['type']}
      filters={
        <FilterBar>
          <EventTypeFilter
            value={query.get('type')}
            seen={page.loaded.value?.items.map(({ event_type }) => event_type) ?? []}
            onChange={(type) => page.change({ type })}
          />
        </FilterBar>
      }
      empty="No events yet."
    />
  );
}
