import * as v from 'valibot';
import { computationStatuses } from '../../computations/computation.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import { strictObject } from '../../strict-object.ts';
import { text } from '../../text.ts';
import { paging } from '../../http/paging.ts';
import type { Route } from '../../http/route.ts';
import { computationRow } from '../samples.ts';
import { computationPage } from '../computation-page.ts';
import { reads } from '../../uses.ts';

export const route = {
  name: 'computations/list-computations',
  endpoint: 2,
  method: 'GET',
  path: '/{domainID}/computations',
  summary: 'List computations, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot list computations.',
} as const satisfies Route;

export const contract = {
  query: strictObject({
    ...paging,
    status: v.optional(v.pipe(v.picklist(computationStatuses), v.description('Return only computations with this status.'))),
    owner: v.optional(v.pipe(text(1, 255), v.description("Return only computations of this owner, a user's `sub`."))),
  }),
  status: 200,
  response: computationPage,
} as const satisfies Contract;

export const examples = {
  response: { computations: [computationRow], limit: 10, offset: 0, total: 1 },
} satisfies Examples<typeof contract>;
