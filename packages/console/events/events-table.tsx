import type { Schemas } from 'computation-management-client';
import { fieldsText } from 'computation-management-words';
import { Fragment } from 'react';
import { GoTo } from '../frame/index.ts';
import { ChoiceFilter, type Column, PagedTable, usePage } from '../lists/index.ts';
import { refreshSeconds } from '../loading/index.ts';
import { useAddress } from '../routing/index.ts';
import { Name, StatusIndicator, Time, User } from '../show/index.ts';
import { detailsOf, eventMark, eventStatusText, eventText, eventTypes } from './event-texts.ts';

type Event = Schemas['Event'];

/** Shows the journal of a computation, which lists its events, newest first. */
export function EventsTable({ id }: { id: string }) {
  const { query } = useAddress();
  const page = usePage('listEvents', { id, event_type: query.get('type') ?? undefined }, { everySeconds: refreshSeconds.events });
  const seen = page.loaded.value?.items.map(({ event_type }) => event_type) ?? [];
  const columns: Column<Event>[] = [
    { header: 'Time', isPrimary: true, cell: ({ timestamp }) => <Time at={timestamp} /> },
    {
      header: 'Event',
      isRowHeader: true,
      minWidth: 210,
      cell: (event) => (
        <StatusIndicator type={eventMark(event)}>
          {eventText(event.event_type)} {eventStatusText(event)}
        </StatusIndicator>
      ),
    },
    { header: 'By', cell: ({ originator }) => <User of={originator} /> },
    {
      header: 'Details',
      minWidth: 200,
      cell: ({ details }) => (detailsOf(details).length === 0 ? '-' : <Details of={details} />),
    },
    {
      header: 'Run',
      cell: ({ run_id }) => (run_id === '' ? '-' : <GoTo place={{ screen: 'run', id, run: run_id }}>{run_id.slice(-8)}</GoTo>),
    },
  ];
  return (
    <PagedTable
      title="Events"
      variant="container"
      page={page}
      columns={columns}
      rowKey={(event) => event.id}
      saved={(event) => ({ ...event, details: fieldsText(detailsOf(event.details)) })}
      filterNames={['type']}
      filters={
        <ChoiceFilter
          label="Event"
          all="Any event"
          page={page}
          name="type"
          options={eventTypes([...seen, query.get('type') ?? '']).map((type) => ({ value: type, label: eventText(type) }))}
        />
      }
      empty="No events yet."
    />
  );
}

/**
 * The pattern of values in an event's details that are shown without a box: single words and times, which nobody takes for other text of
 * the page.
 */
const plainly = /^([\w:+/.@=-]+|\d+ \w{3} \d{4}, \d\d:\d\d:\d\d [\w+-]+)$/;

/** Shows the details of an event. A value of more than one word is in a box, because an agent may send any text. */
export function Details({ of, without }: { of: string; without?: string }) {
  return detailsOf(of, without).map(({ name, value }, index) => (
    <Fragment key={index}>
      {index > 0 && ', '}
      {name !== '' && <>{/^[\w ]*$/.test(name) ? name : <Name of={name} />}: </>}
      {plainly.test(value) ? value : <Name of={value} />}
    </Fragment>
  ));
}
