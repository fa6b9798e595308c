import * as v from 'valibot';
import { eventSchema } from '../events/event.ts';
import type { Contract } from '../http/contract.ts';
import { pageEnvelope, paging } from '../text.ts';

const filter = (what: string) => v.optional(v.pipe(v.string(), v.description(`Only events of this ${what}.`)));
const bound = (what: string) => v.optional(v.pipe(v.string(), v.description(`${what}, inclusive: RFC 3339 or Unix seconds.`)));

export const listEventsContract = {
  query: v.strictObject({
    ...paging,
    from: bound('The earliest time'),
    to: bound('The latest time'),
    status: filter('status'),
    event_type: filter('type'),
    run_id: filter('run'),
    cvm_id: filter('CVM'),
    originator: filter('originator'),
  }),
  status: 200,
  response: v.object({ events: v.array(eventSchema), ...pageEnvelope }),
  errors: ['not_found'],
} as const satisfies Contract;

export const getStatusContract = {
  status: 200,
  response: eventSchema,
  errors: ['not_found'],
  description: 'Administrative events (an update, a link, a key) do not count.',
} as const satisfies Contract;
