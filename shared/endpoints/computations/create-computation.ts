import { computationInput, computationSchema } from '../../computations/computation.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { computationBody, newComputation } from '../samples.ts';
import { changesLists } from '../../uses.ts';

export const route = {
  name: 'computations/create-computation',
  endpoint: 1,
  method: 'POST',
  path: '/{domainID}/computations',
  summary: 'Create a computation',
  access: { anyOf: ['create_computation'] },
  uses: { table: changesLists, sealingKey: ['GenerateDataKey', 'Decrypt'] },
  impact: 'Users cannot create computations.',
} as const satisfies Route;

export const contract = {
  body: computationInput,
  status: 201,
  response: computationSchema,
  etag: true,
  headers: {
    Location: 'The path of the computation.',
    'HX-Location': '`/computations/{id}`, for front ends that follow this header.',
  },
  errors: ['unsupported_media_type', 'too_large'],
} as const satisfies Contract;

export const examples = { request: computationBody, response: newComputation } satisfies Examples<typeof contract>;
