import { Link, Select, type SelectProps } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import type { Column } from '../lists/columns.tsx';
import { FilterBar } from '../lists/filter-bar.tsx';
import { PagedTable } from '../lists/paged-table.tsx';
import { usePage } from '../lists/use-page.ts';
import { refreshSeconds } from '../loading/use-loaded.ts';
import { useAddress } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { StatusIndicator } from '../show/status.tsx';
import { Time } from '../show/time.tsx';
import { Name } from '../show/visible-texts.tsx';
import { Details } from './details.tsx';
import { detailsText, eventMark, eventStatusText, eventText, eventTypes } from './event-texts.ts';

type Event = Schemas['Event'];

/** The journal of a computation, newest first. */
export function EventsTable({ id }: { id: string }) {
  const { domain } = useDomain();
  const { query } = useAddress();
  const page = usePage('listEvents', { id, event_type: query.get('type') ?? undefined }, { everySeconds: refreshSeconds.events });
  const columns: Column<Event>[] = [
    { id: 'time', header: 'Time', cell: ({ timestamp }) => <Time at={timestamp} /> },
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
    { id: 'originator', header: 'By', isSecondary: true, cell: ({ originator }) => <Name of={originator} /> },
    {
      id: 'details',
      header: 'Details',
      isSecondary: true,
      minWidth: 200,
      cell: ({ details }) => (detailsText(details) === '' ? '-' : <Details of={details} />),
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
      saved={(event) => ({ ...event, details: detailsText(event.details) })}
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

interface Props {
  value: string | null;
  /** The types of the events that are shown. */
  seen: readonly string[];
  onChange: (type: string | undefined) => void;
}

const any: SelectProps.Option = { value: '', label: 'Any event' };

/** Chooses a type of event by what it is called. An agent's own type can be typed as the agent sends it. */
function EventTypeFilter({ value, seen, onChange }: Props) {
  const [text, setText] = useState('');
  const { service, agent } = eventTypes(seen);
  const isTyped = text !== '' && ![...service, ...agent].includes(text);
  const groups = [
    { label: 'Of the service', options: service.map(optionOf).filter((option) => matches(option, text)) },
    { label: 'Of the agent', options: agent.map(optionOf).filter((option) => matches(option, text)) },
    { label: 'Another one', options: isTyped ? [{ value: text, label: text }] : [] },
  ].filter(({ options }) => options.length > 0);
  return (
    <div className="filter">
      <Select
        ariaLabel="Event"
        filteringType="manual"
        filteringAriaLabel="Find an event, or type the agent's own type"
        filteringPlaceholder="Find an event"
        selectedOption={value === null ? any : optionOf(value)}
        options={text === '' ? [any, ...groups] : groups}
        onLoadItems={({ detail }) => setText(detail.filteringText.trim())}
        onChange={({ detail }) => onChange(detail.selectedOption.value || undefined)}
      />
    </div>
  );
}

function optionOf(type: string): SelectProps.Option & { value: string; label: string } {
  return { value: type, label: eventText(type) };
}

function matches({ value, label }: { value: string; label: string }, text: string): boolean {
  return [value, label].some((each) => each.toLowerCase().includes(text.toLowerCase()));
}
