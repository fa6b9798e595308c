import * as v from 'valibot';
import { eventSchema } from '../../events/event.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import { pageEnvelope, paging } from '../../http/paging.ts';
import { namedId } from '../../identifier-schemas.ts';
import type { Route } from '../../http/route.ts';
import { reads } from '../../uses.ts';
import { event } from '../samples.ts';

export const route = {
  name: 'events/list-events',
  endpoint: 23,
  method: 'GET',
  path: '/{domainID}/computations/{id}/events',
  summary: 'List the events of a computation, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  loses: 'Users cannot see the events of a computation.',
} as const satisfies Route;

const filter = (description: string) => v.optional(v.pipe(v.string(), v.description(description)));

export const contract = {
  query: v.strictObject({
    ...paging,
    from: filter('Return only events recorded at or after this time: RFC 3339 or Unix seconds.'),
    to: filter('Return only events recorded at or before this time: RFC 3339 or Unix seconds.'),
    status: filter('Return only events with this status.'),
    event_type: filter('Return only events of this type.'),
    run_id: v.optional(v.pipe(namedId(), v.description('Return only events of this run.'))),
    cvm_id: filter('Return only events of this CVM.'),
    originator: filter('Return only events from this originator.'),
  }),
  status: 200,
  response: v.pipe(v.object({ events: v.array(eventSchema), ...pageEnvelope }), v.title('EventPage')),
  errors: ['not_found'],
} as const satisfies Contract;

export const examples = { response: { events: [event], limit: 10, offset: 0, total: 1 } } satisfies Examples<typeof contract>;
