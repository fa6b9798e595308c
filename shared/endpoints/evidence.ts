import { strictObject } from 'computation-management-formats/fields';
import { uncheckedId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { evidenceSchema } from '../evidence/evidence.ts';
import type { Route } from '../http/route.ts';

export const getEvidenceRoute = {
  name: 'evidence/get-evidence',
  method: 'GET',
  path: '/{domainID}/computations/{id}/evidence',
  summary: 'Get the evidence of a run',
  access: { anyOf: ['view'] },
  uses: {
    table: ['GetItem', 'Query', 'PutItem', 'ConditionCheckItem'],
    signingKey: ['GetPublicKey', 'Sign'],
  },
  impact: 'Parties cannot get the signed statement about a run.',
  query: strictObject({ run: v.pipe(uncheckedId(), v.description('The identifier of a run of this computation.')) }),
  status: 200,
  response: evidenceSchema,
  errors: ['not_found', 'conflict'],
  reasons: ['run_active'],
  description:
    'Returns a signed statement about an ended run. The first request after the end of the run creates it, and later requests return the ' +
    'same statement. Returns 409 with the reason `run_active` while the run is active. The public keys are at `/.well-known/jwks.json`.',
} as const satisfies Route;
