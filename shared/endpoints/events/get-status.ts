import { eventSchema } from '../../events/event.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { event } from '../samples.ts';

export const route = {
  name: 'events/get-status',
  endpoint: 24,
  method: 'GET',
  path: '/{domainID}/computations/{id}/status',
  summary: 'Get the latest lifecycle event of a computation',
  access: { anyOf: ['view'] },
  uses: { table: ['BatchGetItem'] },
  impact: 'Users cannot see the status of a computation.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: eventSchema,
  errors: ['not_found'],
  description: 'Ignores administrative events, such as updates, links and keys.',
} as const satisfies Contract;

export const examples = { response: event } satisfies Examples<typeof contract>;
