import { strictObject } from 'computation-management-formats/fields';
import { evidenceSchema } from '../evidence/evidence.ts';
import { type Route, runParameter } from '../http/route.ts';
import { resultEvidenceSchema } from '../results/index.ts';
import { readsLog } from '../runtime/uses.ts';

const query = strictObject({ run: runParameter });

/** The permissions to make a signed statement about a run, and to read it again. */
const ofStatement = {
  table: ['GetItem', 'Query', 'PutItem', 'ConditionCheckItem'],
  signingKey: ['GetPublicKey', 'Sign'],
  ...readsLog,
} as const;

export const getEvidenceRoute = {
  name: 'evidence/get-evidence',
  method: 'GET',
  path: '/{domainID}/computations/{id}/evidence',
  summary: 'Get the evidence of a run',
  access: { anyOf: ['view'] },
  uses: ofStatement,
  impact: 'Parties cannot get the signed statement about a run.',
  query,
  response: evidenceSchema,
  reasons: ['run_active', 'log_pending', 'log_contradicted'],
  description:
    'Returns a signed statement about an ended run. The first request after the end of the run creates it, and later requests return the ' +
    'same statement. Returns 409 with the reason `run_active` while the run is active, and with `log_pending` and `Retry-After` until its start ' +
    'and end are in the log of the stage. The public keys are at `/.well-known/jwks.json`.',
} as const satisfies Route;

export const getResultRoute = {
  name: 'results/get-result',
  method: 'GET',
  path: '/{domainID}/computations/{id}/result',
  summary: 'Get the signed statement about the result of a run',
  access: { anyOf: ['view'] },
  uses: ofStatement,
  impact: 'Parties cannot get the signed statement about a result.',
  query,
  response: resultEvidenceSchema,
  reasons: ['no_result', 'result_open', 'log_pending', 'log_contradicted'],
  description:
    'Returns a signed statement about the decisions on the result of a run, once it is released or withheld. The first request creates it, ' +
    'and later requests return the same statement. Before, returns 409 with the reason `result_open`, and with ' +
    '`log_pending` and `Retry-After` until the decision is in the log of the stage.',
} as const satisfies Route;
