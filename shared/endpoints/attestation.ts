import { strictObject } from 'computation-management-formats/fields';
import { attestationOfRunSchema } from '../attestation/describe-attestation.ts';
import { type Route, runIfSent } from '../http/route.ts';

export const getAttestationRoute = {
  name: 'attestation/get-attestation',
  method: 'GET',
  path: '/{domainID}/computations/{id}/attestation',
  summary: 'Get the attestation of a run',
  access: { anyOf: ['view'] },
  uses: { table: ['GetItem'], content: ['GetObject'] },
  impact: 'Parties cannot get the attestation of the CVM of a run.',
  query: strictObject({ run: runIfSent }),
  response: attestationOfRunSchema,
  description:
    'Returns what the service found in the attestation evidence of the agent process that has or had the run, with links to the tokens. ' +
    'The service keeps tokens for 400 days.',
} as const satisfies Route;
