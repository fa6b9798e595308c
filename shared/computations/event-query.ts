import type { EventFilter } from '../events/event-filter.ts';
import type { Facet } from '../events/segment.ts';
import { parseTimeBound } from '../events/time-bound.ts';

/** The filters of endpoint 23 as the client sends them. `from` and `to` are RFC 3339 or Unix seconds, both inclusive. */
export type EventQuery = { [filter in Facet | 'from' | 'to']?: string | undefined };

/** Returns the filter. @throws ServiceError `invalid_request` if `from` or `to` is invalid */
export function parseEventQuery({ from, to, ...facets }: EventQuery): EventFilter {
  return {
    ...facets,
    from: from === undefined ? undefined : parseTimeBound(from, 'from'),
    to: to === undefined ? undefined : parseTimeBound(to, 'to'),
  };
}
