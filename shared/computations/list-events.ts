import type { EventPage } from '../events/matching-events.ts';
import { readEvents, type Paging } from '../events/read-events.ts';
import { getItem, type Table } from '../table/table.ts';
import { parseEventQuery, type EventQuery } from './event-query.ts';
import { computationKey, parseComputation } from './find-computation.ts';

/**
 * Lists the events of a computation that match every filter, newest first.
 * @throws ServiceError `not_found`; `invalid_request` if `from` or `to` is invalid
 */
export async function listEvents(
  table: Table,
  domain: string,
  id: string,
  query: EventQuery,
  paging: Paging,
): Promise<EventPage> {
  const filter = parseEventQuery(query);
  const [row, page] = await Promise.all([getItem(table, computationKey(domain, id)), readEvents(table, id, filter, paging)]);
  parseComputation(row, id);
  return page;
}
