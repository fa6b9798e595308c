import { laterOf } from 'computation-management-formats/timestamps';
import { type Event, parseEvent } from '../journal/journal.ts';
import { type EventPage, type EventFilter, type EventQuery, parseEventQuery } from './matching-events.ts';
import { type EventsAfter, findPosition, type Paging, readEvents, readEventsAfter, readNewEvents } from './read-events.ts';
import { invalid } from '../runtime/errors.ts';
import { journalKeys } from '../table/keys.ts';
import { type Table, getItem, getItems } from '../table/table.ts';
import { waitFor, type Wait } from '../http/wait.ts';
import { type Run, readRun } from '../rows/run.ts';
import { computationKey, parseComputation } from '../rows/computation.ts';

interface EventListQuery extends EventQuery {
  limit: number;
  offset?: number | undefined;
  /** The identifier of the event after which the list of events begins. Empty: from the first event on. */
  after?: string | undefined;
  /** The longest time to wait for new events, in seconds. */
  wait: number;
}

interface EventList extends EventPage, Paging {}

/**
 * Lists the events of a computation, newest first, or those after an event, oldest first.
 * @param wait used only with `after`
 * @throws ServiceError `not_found`; `invalid_request` if `from`, `to` or `after` is invalid, or parameters do not go together
 */
export async function listEvents(
  table: Table,
  computation: { domain: string; id: string },
  { limit, offset, after, wait: waitInSeconds, ...filter }: EventListQuery,
  wait: Wait,
): Promise<EventList> {
  if (after === undefined) {
    if (waitInSeconds > 0) throw invalid('query/wait', '`wait` requires `after`. Send `after=` to begin at the first event.');
    const paging = { limit, offset: offset ?? 0 };
    return { ...(await readPageOfEvents(table, computation, filter, paging)), ...paging };
  }
  if (offset !== undefined) throw invalid('query/offset', '`offset` cannot be combined with `after`.');
  return { ...(await watchEvents(table, computation, filter, { after, limit }, wait)), limit, offset: 0 };
}

async function readPageOfEvents(table: Table, { domain, id }: { domain: string; id: string }, query: EventQuery, paging: Paging) {
  const filter = parseEventQuery(query);
  const [row, page] = await Promise.all([getItem(table, computationKey(domain, id)), readEvents(table, id, filter, paging)]);
  parseComputation(row, id);
  return page;
}

/** A request for the first `limit` events after the event with the identifier `after`. Empty `after`: from the first event on. */
export interface Watching {
  after: string;
  limit: number;
}

/**
 * Lists the events after an event, oldest first, or waits until there is one. A client that continues after the last event of
 * each answer gets every event once.
 * @throws ServiceError `not_found`; `invalid_request`
 */
export async function watchEvents(
  table: Table,
  { domain, id }: { domain: string; id: string },
  query: EventQuery,
  { after, limit }: Watching,
  wait: Wait,
): Promise<EventPage> {
  const asked = parseEventQuery(query);
  const [row, position, run] = await Promise.all([
    getItem(table, computationKey(domain, id)),
    findPosition(table, id, after),
    asked.run_id === undefined ? undefined : readRun(table, domain, asked.run_id),
  ]);
  parseComputation(row, id);
  if (!position) throw invalid('query/after', expectedAfter);
  const filter = run?.computation_id === id ? sinceStartOf(run, asked) : asked;
  const { events, total } = await waitFor<EventsAfter>(
    table,
    wait,
    (before) =>
      before
        ? readNewEvents(table, id, filter, limit, before)
        : readEventsAfter(table, id, filter, { limit, after: position.number }, position.head),
    (seen) => seen.events.length > 0,
  );
  return { events, total };
}

/** Limits a filter by run to the time since the run's start, so that the index segments of earlier runs are not read. */
function sinceStartOf({ started_at }: Run, filter: EventFilter): EventFilter {
  return { ...filter, from: laterOf(filter.from ?? started_at, started_at) };
}

const expectedAfter = 'Expected the identifier of an event of this computation, or an empty value.';

/** Reads the latest event of a computation that became its status. One round trip. @throws ServiceError `not_found` */
export async function readStatus(table: Table, domain: string, id: string): Promise<Event> {
  const [row, latest] = await getItems(table, [computationKey(domain, id), journalKeys.latest(id)]);
  parseComputation(row, id);
  return parseEvent(latest);
}
