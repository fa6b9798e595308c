import { invalid } from '../errors.ts';
import type { EventPage } from '../events/matching-events.ts';
import { readEvents, type Paging } from '../events/read-events.ts';
import { getItem, type Table } from '../table/table.ts';
import type { Wait } from '../waits/wait.ts';
import { parseEventQuery, type EventQuery } from './event-query.ts';
import { computationKey, parseComputation } from './find-computation.ts';
import { watchEvents } from './watch-events.ts';

/** The parameters of endpoint 23. */
interface EventListQuery extends EventQuery {
  limit: number;
  offset?: number | undefined;
  /** List the events after this one. */
  after?: string | undefined;
  /** Seconds. */
  wait: number;
}

interface EventList extends EventPage, Paging {}

/**
 * Lists the events of a computation that match every filter: newest first, or those after an event, oldest first (watchEvents).
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

async function readPageOfEvents(
  table: Table,
  { domain, id }: { domain: string; id: string },
  query: EventQuery,
  paging: Paging,
): Promise<EventPage> {
  const filter = parseEventQuery(query);
  const [row, page] = await Promise.all([getItem(table, computationKey(domain, id)), readEvents(table, id, filter, paging)]);
  parseComputation(row, id);
  return page;
}
