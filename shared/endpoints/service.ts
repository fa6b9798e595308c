import { shownText } from 'computation-management-formats/fields';
import * as v from 'valibot';
import type { Route } from '../http/route.ts';
import { publicJwkSchema } from '../evidence/index.ts';

export const healthRoute = {
  name: 'service/health',
  method: 'GET',
  path: '/health',
  summary: 'Check the health of the service',
  uses: {},
  impact: 'Health checks fail.',
  status: 200,
  response: v.pipe(
    v.object({
      status: v.pipe(v.literal('ok'), v.description('`ok`: the service answers.')),
      stage: v.pipe(shownText(64), v.description('The deployed stage.')),
      version: v.pipe(shownText(64), v.description('The version of the service.')),
    }),
    v.title('Health'),
    v.description('The health of the service.'),
  ),
} as const satisfies Route;

export const openapiRoute = {
  name: 'service/openapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Get this OpenAPI document',
  uses: {},
  impact: 'Users cannot read the API document.',
  status: 200,
  response: v.pipe(
    v.looseObject({ openapi: v.pipe(v.literal('3.1.0'), v.description('The version of OpenAPI.')) }),
    v.title('OpenApiDocument'),
    v.description('This document.'),
    v.metadata({ additionalProperties: true }),
  ),
} as const satisfies Route;

export const jwksRoute = {
  name: 'service/jwks',
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Get the public keys that verify evidence',
  uses: { publishedKeys: ['GetPublicKey'] },
  impact: 'Parties cannot get the keys that verify evidence.',
  status: 200,
  response: v.pipe(
    v.object({ keys: v.pipe(v.array(publicJwkSchema), v.description('The current signing key and all former ones.')) }),
    v.title('PublicKeys'),
    v.description('The public keys that verify evidence, as a JSON Web Key Set (RFC 7517).'),
  ),
} as const satisfies Route;
