import { described, namedObject, shownText } from 'computation-management-formats/fields';
import * as v from 'valibot';
import type { Route } from '../http/route.ts';
import { publicJwkSchema } from '../evidence/index.ts';

/** Returns the schema of an object with any further members, which are ignored or passed on as they are. */
/*#__NO_SIDE_EFFECTS__*/
export function openObject<const Entries extends v.ObjectEntries>(title: string, description: string, entries: Entries) {
  const named = v.pipe(v.looseObject(entries), v.title(title), v.description(description));
  return v.pipe(named, v.metadata({ additionalProperties: true }));
}

export const healthRoute = {
  name: 'service/health',
  method: 'GET',
  path: '/health',
  summary: 'Check the health of the service',
  uses: {},
  impact: 'Health checks fail.',
  response: namedObject('Health', 'The health of the service.', {
    status: described(v.literal('ok'), '`ok`: the service answers.'),
    stage: shownText(64, 'The deployed stage.'),
    version: shownText(64, 'The version of the service.'),
  }),
} as const satisfies Route;

export const openapiRoute = {
  name: 'service/openapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Get this OpenAPI document',
  uses: {},
  impact: 'Users cannot read the API document.',
  response: openObject('OpenApiDocument', 'This document.', {
    openapi: described(v.literal('3.1.0'), 'The version of OpenAPI.'),
  }),
} as const satisfies Route;

export const jwksRoute = {
  name: 'service/jwks',
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Get the public keys that verify evidence',
  uses: { publishedKeys: ['GetPublicKey'] },
  impact: 'Parties cannot get the keys that verify evidence.',
  response: namedObject('PublicKeys', 'The public keys that verify evidence, as a JSON Web Key Set (RFC 7517).', {
    keys: described(v.array(publicJwkSchema), 'The current signing key and all former ones.'),
  }),
} as const satisfies Route;
