import type { Event } from '../events/event.ts';
import type { Facet } from '../events/segment.ts';
import { readEvents } from '../events/read-events.ts';
import { parseTimeBound } from '../events/time-bound.ts';
import { getItem, type Table } from '../table/table.ts';
import { computationKey, parseComputation } from './find-computation.ts';

/** A page of events. `from` and `to` are RFC 3339 or Unix seconds, both inclusive. */
export type EventQuery = { limit: number; offset: number } & { [filter in Facet | 'from' | 'to']?: string | undefined };

/**
 * Lists the events of a computation that match every filter, newest first.
 * @throws ServiceError `not_found`; `invalid_request` if `from` or `to` is invalid
 */
export async function listEvents(
  table: Table,
  domain: string,
  id: string,
  { limit, offset, from, to, ...facets }: EventQuery,
): Promise<{ events: Event[]; total: number }> {
  const filter = {
    ...facets,
    from: from === undefined ? undefined : parseTimeBound(from, 'from'),
    to: to === undefined ? undefined : parseTimeBound(to, 'to'),
  };
  const [row, page] = await Promise.all([
    getItem(table, computationKey(domain, id)),
    readEvents(table, id, filter, { limit, offset }),
  ]);
  parseComputation(row, id);
  return page;
}
