import { strictObject, text } from 'computation-management-formats/fields';
import { comparedId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { eventSchema } from '../journal/journal.ts';
import { type Route, entriesOf, ifSent, offsetIfSent, pageOf, paging, waitParameter } from '../http/route.ts';
import { waiting } from '../runtime/uses.ts';

const eventId = /^(?:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})?$/;

/**
 * The longest text of a time in the query of a request for events, in characters. RFC 3339 with a fraction in nanoseconds is
 * shorter.
 */
const longestTime = 64;

const filter = (longest: number, description: string) => ifSent(text(0, longest), description);

export const listEventsRoute = {
  name: 'events/list-events',
  endpoint: 23,
  method: 'GET',
  path: '/{domainID}/computations/{id}/events',
  summary: 'List or watch the events of a computation',
  access: { anyOf: ['view'] },
  uses: { table: ['GetItem', 'BatchGetItem', ...waiting] },
  waits: true,
  impact: 'Users cannot see the events of a computation.',
  query: strictObject({
    limit: paging.limit,
    offset: offsetIfSent,
    after: v.optional(
      v.pipe(
        v.string(),
        v.regex(eventId, 'Expected the identifier of an event, or an empty value.'),
        v.toLowerCase(),
        v.description(
          'Return only events recorded after the event with this identifier, oldest first. Empty: begin at the first event. Cannot be combined with `offset`.',
        ),
        v.metadata({ maxLength: 36 }),
      ),
    ),
    wait: waitParameter,
    from: filter(longestTime, 'Return only events recorded at or after this time: RFC 3339 or Unix seconds.'),
    to: filter(longestTime, 'Return only events recorded at or before this time: RFC 3339 or Unix seconds.'),
    status: filter(60, 'Return only events with this status.'),
    event_type: filter(60, 'Return only events of this type.'),
    run_id: ifSent(comparedId(), 'Return only events of this run. Empty: only events of no run.'),
    cvm_id: filter(64, 'Return only events of this CVM. Empty: only events of no CVM.'),
    originator: filter(255, 'Return only events from this originator.'),
  }),
  response: pageOf('EventPage', 'A page of the journal of a computation.', {
    events: entriesOf(eventSchema, 'The events, newest first. With `after`: oldest first.'),
  }),
  description:
    'Returns the newest events first. With `after`, returns the oldest first. To watch a computation, send `after=` and `wait=20`. ' +
    'Then repeat the request, each time with the identifier of the last event that you received as `after`. `total` counts all ' +
    'events that the filters match, regardless of `after`. `wait` requires `after`.',
} as const satisfies Route;

export const getStatusRoute = {
  name: 'events/get-status',
  endpoint: 24,
  method: 'GET',
  path: '/{domainID}/computations/{id}/status',
  summary: 'Get the latest lifecycle event of a computation',
  access: { anyOf: ['view'] },
  uses: { table: ['BatchGetItem'] },
  impact: 'Users cannot see the status of a computation.',
  response: eventSchema,
  description: 'Ignores administrative events, such as updates, links and keys.',
} as const satisfies Route;
