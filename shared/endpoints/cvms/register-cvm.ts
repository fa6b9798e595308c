import { cvmInput, cvmSchema } from '../../cvms/cvm.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { changesLists } from '../../uses.ts';
import { cvm, cvmBody } from '../samples.ts';

export const route = {
  name: 'cvms/register-cvm',
  method: 'PUT',
  path: '/{domainID}/cvms/{cvmID}',
  summary: 'Register or update a CVM',
  access: { anyOf: ['administer'] },
  uses: { table: changesLists },
  impact: 'Administrators cannot register CVMs.',
} as const satisfies Route;

export const contract = {
  body: cvmInput,
  status: 200,
  statusIfNew: 201,
  response: cvmSchema,
  etag: true,
  condition: 'if-match',
  errors: ['unsupported_media_type', 'too_large'],
  description:
    'Stores the SHA-256 fingerprint of the certificate. Returns 400 if `certificate` contains a private key. A run starts ' +
    'on a registered CVM only while the CVM is connected and its `fit` is not `spent`.',
} as const satisfies Contract;

export const examples = { request: cvmBody, response: cvm } satisfies Examples<typeof contract>;
