import * as v from 'valibot';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';

export const route = {
  name: 'keys/check-key',
  endpoint: 11,
  method: 'GET',
  path: '/{domainID}/computations/{id}/key',
  summary: 'Check whether your public key is uploaded',
  access: { anyOf: ['view'] },
  uses: { table: ['BatchGetItem'] },
  impact: 'Users cannot check whether their key is uploaded.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: v.pipe(
    v.object({ uploaded: v.pipe(v.boolean(), v.description('Whether you have uploaded a key to the computation.')) }),
    v.title('KeyState'),
    v.description('Whether your public key is uploaded.'),
  ),
  errors: ['not_found'],
} as const satisfies Contract;

export const examples = { response: { uploaded: true } } satisfies Examples<typeof contract>;
