import { cvmSchema } from '../../cvms/cvm.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { cvm } from '../samples.ts';

export const route = {
  name: 'cvms/get-cvm',
  method: 'GET',
  path: '/{domainID}/cvms/{cvmID}',
  summary: 'Get a registered CVM',
  access: { anyOf: ['view'] },
  uses: { table: ['BatchGetItem'] },
  impact: 'Users cannot open a CVM.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: cvmSchema,
  etag: true,
  condition: 'if-none-match',
  errors: ['not_found'],
} as const satisfies Contract;

export const examples = { response: cvm } satisfies Examples<typeof contract>;
