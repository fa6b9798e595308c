import { computationReplacement, computationSchema } from '../../computations/computation.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { computation, computationBody } from '../samples.ts';
import { changesLists } from '../../uses.ts';

export const route = {
  name: 'computations/update-computation',
  endpoint: 4,
  method: 'PUT',
  path: '/{domainID}/computations/{id}',
  summary: 'Replace a computation',
  access: { anyOf: ['edit'], or: ['owner'] },
  uses: { table: changesLists, sealingKey: ['GenerateDataKey', 'Decrypt'] },
  impact: 'Users cannot change computations.',
} as const satisfies Route;

export const contract = {
  body: computationReplacement,
  status: 200,
  response: computationSchema,
  etag: true,
  condition: 'if-match',
  errors: ['not_found', 'unsupported_media_type', 'too_large'],
  description:
    'Replaces all fields. A field that you omit is reset to its default, except `owner` and `approval`, which stay the same. ' +
    'Without `consumers`, all users with the role `result_consumer` who uploaded a key become result consumers.',
} as const satisfies Contract;

export const examples = { request: computationBody, response: computation } satisfies Examples<typeof contract>;
