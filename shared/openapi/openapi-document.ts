import type { JsonSchema } from '@valibot/to-json-schema';
import { roles, type AccessAction } from '../access/roles.ts';
import { errorTable, type ErrorCode } from '../errors.ts';
import type { Contract } from '../http/contract.ts';
import { problemSchema } from '../http/problem.ts';
import { routes, type Route } from '../routes.ts';
import { contracts } from './contracts.ts';
import { examples } from './examples.ts';
import { jsonSchemaOf } from './json-schema.ts';
import { pathParameters } from './path-parameters.ts';

type OpenApi = Record<string, unknown> & { openapi: '3.1.0'; paths: Record<string, Record<string, unknown>> };

/**
 * The OpenAPI 3.1 document of the service, made from the route table and from the schemas that the handlers parse with.
 * @param version the service's version, semver
 */
export function openapiDocument(version: string): OpenApi {
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, contracts[route.name]) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Computation management',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Manages confidential computations inside a domain: who takes part, with which files and keys, on which CVM a run takes place, and what happened since.',
    },
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: "A token of the stage's OpenID Connect issuer.",
        },
      },
      schemas: { Problem: jsonSchemaOf(problemSchema, 'output'), Unauthorized: gatewayMessage },
    },
  };
}

/** What API Gateway itself answers, before a function is reached. */
const gatewayMessage = {
  type: 'object',
  properties: { message: { type: 'string' } },
  required: ['message'],
  examples: [{ message: 'Unauthorized' }],
};

function tagOf(route: Route): string {
  return route.name.split('/')[0] ?? '';
}

function operation(route: Route, contract: Contract) {
  const example = examples[route.name as keyof typeof examples];
  const text = [contract.description, route.access && `Takes ${accessOf(route)}.`].filter(Boolean).join(' ');
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    ...(text ? { description: text } : {}),
    ...(route.access ? {} : { security: [] }),
    parameters: [...pathParameters(route.path), ...queryParameters(route, contract)],
    ...(contract.body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: jsonSchemaOf(contract.body, 'input'), example: example.request } },
          },
        }
      : {}),
    responses: { [contract.status]: success(contract, example.response), ...failures(route, contract) },
  };
}

function operationIdOf(route: Route): string {
  const name = (route.name.split('/')[1] ?? '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const isSecond = routes.some((other) => other.name === route.name && other.method !== route.method) && route.method === 'GET';
  return isSecond ? `${name}ByGet` : name;
}

/** The actions in words, with the roles that have them. */
function accessOf(route: Route): string {
  const { anyOf, or = [] } = route.access ?? { anyOf: [] };
  const having = (action: AccessAction) =>
    Object.entries(roles)
      .filter(([, actions]) => (actions as readonly AccessAction[]).includes(action))
      .map(([role]) => role);
  const all = anyOf.map((action) => `\`${action}\` (${having(action).join(', ')})`);
  return [...all, ...or.map((relation) => `being the ${relation}`)].join(', or ');
}

function queryParameters(route: Route, contract: Contract) {
  const { properties = {}, required = [] } = contract.query ? jsonSchemaOf(contract.query, 'input') : {};
  const own = Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as JsonSchema;
    return { name, in: 'query', required: required.includes(name), description, schema: asQuery(rest) };
  });
  if (!route.access) return own;
  return [
    ...own,
    {
      name: 'domainID',
      in: 'query',
      required: false,
      description: "When present, it equals the path's.",
      schema: { type: 'string' },
    },
  ];
}

/** A number arrives as text and is checked as text; a reader wants to know that it is a number. */
function asQuery(schema: JsonSchema): JsonSchema {
  if (schema.minimum === undefined) return schema;
  const { pattern: _, default: given, ...rest } = schema;
  return { ...rest, type: 'integer', default: Number(given) };
}

function success(contract: Contract, example: unknown) {
  const headers = { 'x-request-id': 'Identifies the request.', ...contract.headers };
  return {
    description: contract.response ? 'Done.' : 'Done; no content.',
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
    ),
    ...(contract.response
      ? { content: { 'application/json': { schema: jsonSchemaOf(contract.response, 'output'), example } } }
      : {}),
  };
}

/** What every endpoint behind the authorizer can answer. */
const everywhere: readonly ErrorCode[] = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'too_many_requests',
  'internal',
  'unavailable',
];

function failures(route: Route, contract: Contract) {
  const codes = route.access ? [...everywhere, ...(contract.errors ?? [])] : (['invalid_request', 'internal'] as const);
  return Object.fromEntries(codes.map((code) => [errorTable[code].status, failure(code)]));
}

function failure(code: ErrorCode) {
  const { status, title } = errorTable[code];
  const problem = {
    schema: { $ref: '#/components/schemas/Problem' },
    example: { type: 'about:blank', title, status, detail: `${title}.`, code, request_id: 'JKJaXmPLvHcESHA=' },
  };
  const plain = { schema: { $ref: '#/components/schemas/Unauthorized' } };
  const byGateway =
    code === 'unauthenticated' ||
    code === 'too_many_requests' ||
    code === 'internal' ||
    code === 'unavailable' ||
    code === 'too_large';
  return {
    description: `${title} (\`${code}\`).`,
    headers: status === 503 ? { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } } : {},
    content: { 'application/problem+json': problem, ...(byGateway ? { 'application/json': plain } : {}) },
  };
}
