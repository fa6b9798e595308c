import * as v from 'valibot';
import { computationView } from '../../computations/computation.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { strictObject } from '../../strict-object.ts';
import { computation } from '../samples.ts';

export const route = {
  name: 'computations/get-computation',
  endpoint: 3,
  method: 'GET',
  path: '/{domainID}/computations/{id}',
  summary: 'Get a computation',
  access: { anyOf: ['view'] },
  uses: { table: ['GetItem', 'Query'], sealingKey: ['Decrypt'] },
  impact: 'Users cannot open a computation.',
} as const satisfies Route;

export const contract = {
  query: strictObject({
    peek: v.optional(
      v.pipe(
        v.picklist(['true', 'false']),
        v.description(
          'If `true`, returns only the fields that a list entry has: no configuration, assets or run. Default `false`.',
        ),
      ),
    ),
  }),
  status: 200,
  response: computationView,
  etag: true,
  condition: 'if-none-match',
  errors: ['not_found'],
} as const satisfies Contract;

export const examples = { response: computation } satisfies Examples<typeof contract>;
