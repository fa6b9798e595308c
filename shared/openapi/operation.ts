import type { JsonSchema } from '@valibot/to-json-schema';
import type { Relation } from '../access/caller.ts';
import { rolesWith } from '../access/roles.ts';
import { eitherOf } from '../either-of.ts';
import { routes } from '../endpoints/endpoints.ts';
import type { Contract, Examples } from '../http/contract.ts';
import { isLimited, takesKey, type Route } from '../http/route.ts';
import type { Components } from './components.ts';
import { conditionParameters, etagHeader } from './conditional-requests.ts';
import { failures } from './failures.ts';
import { everyResponse, optionalTextHeaders, rateLimitHeaders, textHeaders } from './headers.ts';
import { keyParameter, replayedHeaderObject } from './idempotency-key.ts';
import { jsonSchemaOf } from './json-schema.ts';
import { limited } from './limits.ts';
import { pathParameters } from './path-parameters.ts';
import { tagOf } from './tags.ts';

interface Endpoint {
  route: Route;
  contract: Contract;
  examples: Examples;
}

/** Describes an endpoint as an OpenAPI operation. Adds its named schemas to the components. */
export function operation({ route, contract, examples }: Endpoint, components: Components) {
  const text = [contract.description, route.access && `Requires ${accessOf(route)}.`].filter(Boolean).join(' ');
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    description: text || route.summary,
    ...(route.deprecated ? { deprecated: true } : {}),
    ...(route.access ? {} : { security: [] }),
    parameters: [
      ...pathParameters(route.path),
      ...queryParameters(contract),
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

/** Describes who may call an endpoint: the permissions with their roles, and the relations. */
function accessOf(route: Route): string {
  const { anyOf, or = [] } = route.access ?? { anyOf: [] };
  const all = anyOf.map((action) => `the permission \`${action}\` (roles: ${rolesWith(action).join(', ')})`);
  const related = or.length > 0 ? [`being ${eitherOf(or.map((relation) => relationIn(route, relation)))}`] : [];
  return [...all, ...related].join(', or ');
}

function relationIn({ path }: Route, relation: Relation): string {
  if (relation === 'owner') return 'the owner of the computation';
  if (relation === 'consumer') return 'a result consumer';
  return path.includes('/assets/') ? 'the creator of the asset' : 'the creator of an asset in it';
}

/** Without `domainID`, which may repeat the domain of the path. The description of the document says why. */
function queryParameters(contract: Contract) {
  const { properties = {}, required = [] } = contract.query ? jsonSchemaOf(contract.query, 'input') : {};
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as JsonSchema;
    return { name, in: 'query', required: required.includes(name), description, schema: asQuery(rest) };
  });
}

/** A number arrives as text and is checked as text, but readers need to know that it is a number. */
function asQuery(schema: JsonSchema): JsonSchema {
  if (schema.minimum === undefined) return schema;
  const { pattern: _, maxLength: __, default: given, ...rest } = schema;
  return limited({ ...rest, type: 'integer', default: Number(given) });
}

function success(route: Route, contract: Contract, example: unknown, components: Components) {
  return {
    description: contract.response ? 'Success.' : 'Success. The response has no body.',
    headers: {
      ...everyResponse,
      ...textHeaders({ ...etagHeader(contract), ...contract.headers }),
      ...optionalTextHeaders(contract.optionalHeaders ?? {}),
      ...(takesKey(route) ? replayedHeaderObject : {}),
      ...(isLimited(route.name, routes) ? rateLimitHeaders : {}),
    },
    ...(contract.response
      ? { content: { 'application/json': { schema: components.add(contract.response, 'output'), example } } }
      : {}),
  };
}

/** The 304 of an endpoint that evaluates If-None-Match. */
function notModified(contract: Contract) {
  if (contract.condition !== 'if-none-match') return {};
  const headers = { ...everyResponse, ...textHeaders(etagHeader(contract)) };
  return { 304: { description: 'Not modified. The response has no body.', headers } };
}
