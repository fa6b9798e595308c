import type { JsonSchema } from '@valibot/to-json-schema';
import { roles, type AccessAction } from '../access/roles.ts';
import { errorTable, type ErrorCode } from '../errors.ts';
import type { Contract, Examples } from '../http/contract.ts';
import { endpoints, routes } from '../endpoints/endpoints.ts';
import { takesKey, type Route } from '../http/route.ts';
import { Components } from './components.ts';
import { conditionParameters, etagHeader } from './conditional-requests.ts';
import { jsonSchemaOf } from './json-schema.ts';
import { keyParameter, replayedHeaderObject } from './idempotency-key.ts';
import { pathParameters } from './path-parameters.ts';
import { problemSchema } from './problem-schema.ts';

type OpenApi = Record<string, unknown> & { openapi: '3.1.0'; paths: Record<string, Record<string, unknown>> };

/**
 * Builds the OpenAPI 3.1 document of the service from the list of endpoints, with the schemas that the handlers parse with.
 * @param version the service's version, semver
 */
export function openapiDocument(version: string): OpenApi {
  const components = new Components();
  const paths: OpenApi['paths'] = {};
  for (const endpoint of endpoints) {
    const { path, method } = endpoint.route;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(endpoint, components) };
  }
  components.add(problemSchema, 'output');
  return {
    openapi: '3.1.0',
    info: {
      title: 'Computation management',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Manages confidential computations: their participants, algorithms, datasets and keys, their runs on confidential virtual machines (CVMs), and an event log. Every resource belongs to a domain.',
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
          description: "A JSON Web Token from the stage's OpenID Connect issuer.",
        },
      },
      schemas: { ...components.schemas, GatewayMessage: gatewayMessage },
    },
  };
}

/** The body of API Gateway's own errors, for requests that do not reach a function. */
const gatewayMessage = {
  type: 'object',
  properties: { message: { type: 'string' } },
  required: ['message'],
  examples: [{ message: 'Unauthorized' }],
};

/** The message of API Gateway for each error that it answers itself. */
const gatewayMessages: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'Unauthorized',
  too_large: 'Request Entity Too Large',
  too_many_requests: 'Too Many Requests',
  internal: 'Internal Server Error',
  unavailable: 'Service Unavailable',
};

function tagOf(route: Route): string {
  return route.name.split('/')[0] ?? '';
}

interface Endpoint {
  route: Route;
  contract: Contract;
  examples: Examples;
}

function operation({ route, contract, examples }: Endpoint, components: Components) {
  const text = [contract.description, route.access && `Requires ${accessOf(route)}.`].filter(Boolean).join(' ');
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    ...(text ? { description: text } : {}),
    ...(route.access ? {} : { security: [] }),
    parameters: [
      ...pathParameters(route.path),
      ...queryParameters(route, contract),
      ...conditionParameters(contract),
      ...(takesKey(route) ? [keyParameter] : []),
    ],
    ...(contract.body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: components.add(contract.body, 'input'), example: examples.request } },
          },
        }
      : {}),
    responses: {
      [contract.status]: success(route, contract, examples.response, components),
      ...(contract.statusIfNew ? { [contract.statusIfNew]: success(route, contract, examples.response, components) } : {}),
      ...notModified(contract),
      ...failures(route, contract),
    },
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
      description: 'Optional. Must be the same as the domain in the path.',
      schema: { type: 'string' },
    },
  ];
}

/** A number arrives as text and is checked as text, but readers need to know that it is a number. */
function asQuery(schema: JsonSchema): JsonSchema {
  if (schema.minimum === undefined) return schema;
  const { pattern: _, default: given, ...rest } = schema;
  return { ...rest, type: 'integer', default: Number(given) };
}

function success(route: Route, contract: Contract, example: unknown, components: Components) {
  return {
    description: contract.response ? 'Success.' : 'Success. The response has no body.',
    headers: {
      ...responseHeaders({ ...etagHeader(contract), ...contract.headers }),
      ...optionalHeaders(contract),
      ...(takesKey(route) ? replayedHeaderObject : {}),
    },
    ...(contract.response
      ? { content: { 'application/json': { schema: components.add(contract.response, 'output'), example } } }
      : {}),
  };
}

function optionalHeaders({ optionalHeaders = {} }: Contract) {
  const headers = Object.entries(optionalHeaders);
  return Object.fromEntries(
    headers.map(([name, description]) => [name, { description, required: false, schema: { type: 'string' } }]),
  );
}

/** The 304 of an endpoint that evaluates If-None-Match. */
function notModified(contract: Contract) {
  if (contract.condition !== 'if-none-match') return {};
  return { 304: { description: 'Not modified. The response has no body.', headers: responseHeaders(etagHeader(contract)) } };
}

function responseHeaders(own: Record<string, string>) {
  const headers = { 'x-request-id': 'The identifier of the request.', ...own };
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

/** The errors that every endpoint behind the authorizer can return. */
const everywhere: readonly ErrorCode[] = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'too_many_requests',
  'internal',
  'unavailable',
];

function failures(route: Route, contract: Contract) {
  const ofCondition: readonly ErrorCode[] = contract.condition === 'if-match' ? ['precondition_failed'] : [];
  const ofKey: readonly ErrorCode[] = takesKey(route) ? ['idempotency_mismatch'] : [];
  const codes: readonly ErrorCode[] = route.access
    ? [...everywhere, ...(contract.errors ?? []), ...ofCondition, ...ofKey]
    : ['invalid_request', 'internal'];
  return Object.fromEntries(
    [...Map.groupBy(codes, (code) => errorTable[code].status)].map(([status, ofStatus]) => [status, failure(ofStatus)]),
  );
}

/** @param codes the errors that share a status */
function failure(codes: ErrorCode[]) {
  const [code = 'internal'] = codes;
  const { status, title } = errorTable[code];
  const problem = {
    schema: { $ref: '#/components/schemas/Problem' },
    example: { type: 'about:blank', title, status, detail: `${title}.`, code, request_id: 'JKJaXmPLvHcESHA=' },
  };
  const message = gatewayMessages[code];
  const byGateway = { schema: { $ref: '#/components/schemas/GatewayMessage' }, example: { message } };
  return {
    description: codes.map((each) => `${errorTable[each].title} (\`${each}\`).`).join(' '),
    headers: waitHeaders(status),
    content: { 'application/problem+json': problem, ...(message === undefined ? {} : { 'application/json': byGateway }) },
  };
}

function waitHeaders(status: number) {
  const integer = (description: string) => ({ description, schema: { type: 'integer' } });
  const text = (description: string) => ({ description, schema: { type: 'string' } });
  if (status === 503) return { 'Retry-After': integer('The number of seconds to wait before the next try.') };
  if (status !== 429) return {};
  return {
    'Retry-After': integer('The number of seconds to wait before the next try. Not from the gateway.'),
    'RateLimit-Policy': text('The limit of the domain, such as `"domain-changes";q=80;w=2`. Not from the gateway.'),
    RateLimit: text('What is left of it, such as `"domain-changes";r=0;t=2`. Not from the gateway.'),
  };
}
