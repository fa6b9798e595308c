import * as v from 'valibot';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';

export const route = {
  name: 'service/openapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Get this OpenAPI document',
  uses: {},
  impact: 'Users cannot read the API document.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: v.pipe(
    v.looseObject({ openapi: v.pipe(v.literal('3.1.0'), v.description('The version of OpenAPI.')) }),
    v.title('OpenApiDocument'),
    v.description('This document.'),
    v.metadata({ additionalProperties: true }),
  ),
} as const satisfies Contract;

export const examples = {
  response: { openapi: '3.1.0', info: { title: 'Computation management', version: '1.0.0' }, paths: {} },
} satisfies Examples<typeof contract>;
