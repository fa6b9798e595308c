import * as v from 'valibot';
import { evidenceSchema } from '../../evidence/evidence.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { uncheckedId } from '../../identifier-schemas.ts';
import { strictObject } from '../../strict-object.ts';
import { evidence } from '../samples.ts';

export const route = {
  name: 'runs/get-evidence',
  method: 'GET',
  path: '/{domainID}/computations/{id}/evidence',
  summary: 'Get the evidence of a run',
  access: { anyOf: ['view'] },
  uses: {
    table: ['GetItem', 'Query', 'PutItem', 'ConditionCheckItem'],
    signingKey: ['GetPublicKey', 'Sign'],
  },
  impact: 'Parties cannot get the signed statement about a run.',
} as const satisfies Route;

export const contract = {
  query: strictObject({ run: v.pipe(uncheckedId(), v.description('The identifier of a run of this computation.')) }),
  status: 200,
  response: evidenceSchema,
  errors: ['not_found', 'conflict'],
  reasons: ['run_active'],
  description:
    'Returns a signed statement about an ended run. The first request after the end of the run creates it, and later requests return the ' +
    'same statement. Returns 409 with the reason `run_active` while the run is active. The public keys are at `/.well-known/jwks.json`.',
} as const satisfies Contract;

export const examples = { response: evidence } satisfies Examples<typeof contract>;
