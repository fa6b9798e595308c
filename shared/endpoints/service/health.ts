import * as v from 'valibot';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { shownText } from '../../text.ts';

export const route = {
  name: 'service/health',
  method: 'GET',
  path: '/health',
  summary: 'Check the health of the service',
  uses: {},
  impact: 'Health checks fail.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: v.pipe(
    v.object({
      status: v.pipe(v.literal('ok'), v.description('`ok`: the service answers.')),
      stage: v.pipe(shownText(64), v.description('The deployed stage.')),
      version: v.pipe(shownText(64), v.description('The version of the service.')),
    }),
    v.title('Health'),
    v.description('The health of the service.'),
  ),
} as const satisfies Contract;

export const examples = {
  response: { status: 'ok', stage: 'local', version: '1.0.0' },
} satisfies Examples<typeof contract>;
