import { invalid } from '../errors.ts';
import type { EventFilter } from '../events/event-filter.ts';
import { findPosition } from '../events/find-position.ts';
import type { EventPage } from '../events/matching-events.ts';
import { readEventsAfter, readNewEvents, type EventsAfter } from '../events/read-events-after.ts';
import { readRun } from './read-run.ts';
import { getItem, type Table } from '../table/table.ts';
import { laterOf } from '../timestamp.ts';
import { waitFor } from '../waits/wait-for.ts';
import type { Wait } from '../waits/wait.ts';
import { parseEventQuery, type EventQuery } from './event-query.ts';
import { computationKey, parseComputation } from './find-computation.ts';
import type { Run } from './run.ts';

/** The first `limit` events after the event `after`. Empty: from the first event on. */
export interface Watching {
  after: string;
  limit: number;
}

/**
 * Lists the events of a computation that were recorded after an event and match every filter, oldest first. Waits until there is one.
 * A client that continues after the last event of each answer gets every event once.
 * @throws ServiceError `not_found`; `invalid_request` if `from` or `to` is invalid, or `after` is no event of the computation
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

/** A run has no event before its start. So the index segments of earlier runs need not be read. */
function sinceStartOf({ started_at }: Run, filter: EventFilter): EventFilter {
  return { ...filter, from: laterOf(filter.from ?? started_at, started_at) };
}

const expectedAfter =
  'Expected the identifier of an event of this computation, or an empty value. Identifiers that an earlier version of the service issued (UUID version 4) are found only among the newest 100 events.';
