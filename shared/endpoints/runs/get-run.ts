import * as v from 'valibot';
import { runSchema } from '../../computations/run.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import { uncheckedId } from '../../identifier-schemas.ts';
import type { Route } from '../../http/route.ts';
import { strictObject } from '../../strict-object.ts';
import { run } from '../samples.ts';

export const route = {
  name: 'runs/get-run',
  endpoint: 7,
  method: 'GET',
  path: '/{domainID}/computations/{id}/run',
  summary: 'Get a run of a computation',
  access: { anyOf: ['view'] },
  uses: { table: ['GetItem'] },
  impact: 'Users cannot see the progress of a run.',
} as const satisfies Route;

export const contract = {
  query: strictObject({
    run: v.optional(
      v.pipe(uncheckedId(), v.description('The identifier of a run of this computation. Default: the latest run.')),
    ),
  }),
  status: 200,
  response: runSchema,
  errors: ['not_found'],
} as const satisfies Contract;

export const examples = { response: run } satisfies Examples<typeof contract>;
