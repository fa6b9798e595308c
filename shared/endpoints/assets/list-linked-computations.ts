import type { Contract, Examples } from '../../http/contract.ts';
import { paging } from '../../http/paging.ts';
import type { Route } from '../../http/route.ts';
import { strictObject } from '../../strict-object.ts';
import { reads } from '../../uses.ts';
import { computationPage } from '../computation-page.ts';
import { computationRow } from '../samples.ts';

export const route = {
  name: 'assets/list-linked-computations',
  endpoint: 21,
  method: 'GET',
  path: '/{domainID}/assets/{id}/computations',
  summary: 'List the computations linked to an asset, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot see which computations use an asset.',
} as const satisfies Route;

export const contract = {
  query: strictObject(paging),
  status: 200,
  response: computationPage,
  errors: ['not_found'],
} as const satisfies Contract;

export const examples = {
  response: { computations: [computationRow], limit: 10, offset: 0, total: 1 },
} satisfies Examples<typeof contract>;
