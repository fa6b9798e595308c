import { rolesWith } from 'computation-management-formats/vocabulary';
import { type Relation, relationNames } from '../http/caller.ts';
import { eitherOf } from '../runtime/errors.ts';
import { routes, type KnownRoute } from '../endpoints/endpoints.ts';
import { isLimited, statusOf, takesKey, type Route, idempotencyKeyHeader } from '../http/route.ts';
import { examples } from './examples.ts';
import {
  etagHeader,
  everyResponse,
  optionalTextHeaders,
  rateLimitHeaders,
  replayedHeaderObject,
  textHeaders,
} from './headers.ts';
import { type Components, jsonSchemaOf, limited } from './json-schema.ts';
import { failures } from './problems.ts';
import type { JsonSchema } from '@valibot/to-json-schema';
import { cvmId, domainId, identifier } from 'computation-management-formats/identifiers';
import type { ConditionalHeader } from '../http/etags.ts';
import { tilePath } from '../endpoints/history.ts';

/** Returns the OpenAPI operation of an endpoint. Adds its named schemas to the components. */
export function operation(known: KnownRoute, components: Components) {
  const route: Route = known;
  const example: { request?: unknown; response?: unknown } = examples[known.name];
  const content = route.body && contentOf(route, { schema: components.add(route.body, 'input'), example: example.request });
  const text = [route.description, route.access && `Requires ${accessOf(route)}.`].filter(Boolean).join(' ');
  return {
    operationId: operationIdOf(route),
    tags: [route.name.split('/')[0]],
    summary: route.summary,
    description: text || route.summary,
    ...(route.deprecated ? { deprecated: true } : {}),
    ...(route.access ? {} : { security: [] }),
    parameters: parameters(route),
    ...(content ? { requestBody: { required: true, content } } : {}),
    responses: {
      [statusOf(route)]: success(route, example.response, components),
      ...(route.statusIfNew ? { [route.statusIfNew]: success(route, example.response, components) } : {}),
      ...notModified(route),
      ...failures(route),
    },
  };
}

function contentOf({ isForm }: Route, content: object) {
  const types = isForm ? ['application/x-www-form-urlencoded', 'multipart/form-data'] : ['application/json'];
  return Object.fromEntries(types.map((type) => [type, content]));
}

function operationIdOf(route: Route): string {
  const name = (route.name.split('/')[1] ?? '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const isSecond = routes.some((other) => other.name === route.name && other.method !== route.method) && route.method === 'GET';
  return isSecond ? `${name}ByGet` : name;
}

function accessOf(route: Route): string {
  const { anyOf, or = [] } = route.access ?? { anyOf: [] };
  const all = anyOf.map((action) => `the permission \`${action}\` (roles: ${rolesWith(action).join(', ')})`);
  const related = or.length > 0 ? [`being ${eitherOf(or.map((relation) => relationIn(route, relation)))}`] : [];
  return [...all, ...related].join(', or ');
}

function relationIn({ path }: Route, relation: Relation): string {
  if (relation === 'creator') return path.includes('/assets/') ? 'the creator of the asset' : 'the creator of an asset in it';
  return relation === 'provider' ? 'a provider whom the computation names (to refuse)' : relationNames[relation];
}

function success(route: Route, example: unknown, components: Components) {
  return {
    description: route.response ? 'Success.' : 'Success. The response has no body.',
    headers: {
      ...everyResponse,
      ...textHeaders({ ...etagHeader(route), ...route.headers }),
      ...optionalTextHeaders(route.optionalHeaders ?? {}),
      ...(takesKey(route) ? replayedHeaderObject : {}),
      ...(isLimited(route.name, routes) ? rateLimitHeaders : {}),
    },
    ...(route.response
      ? { content: { [route.media?.type ?? 'application/json']: { schema: components.add(route.response, 'output'), example } } }
      : {}),
  };
}

/** Returns the OpenAPI response 304 (Not Modified) of an endpoint that evaluates If-None-Match. */
function notModified(route: Route) {
  if (route.condition !== 'if-none-match') return {};
  const headers = { ...everyResponse, ...textHeaders(etagHeader(route)) };
  return { 304: { description: 'Not modified. The response has no body.', headers } };
}

/** Returns the OpenAPI parameters of an endpoint: of its path, its query and its headers. */
function parameters(route: Route) {
  return [
    ...pathParameters(route.path),
    ...queryParameters(route),
    ...conditionParameters(route),
    ...(takesKey(route) ? [keyParameter] : []),
  ];
}

function pathParameters(path: string) {
  const [, of = ''] = /(assets|releases)\/\{id\}/.exec(path) ?? [];
  const resource = { assets: 'asset', releases: 'request for a key' }[of] ?? 'computation';
  const other = { description: `The identifier of the ${resource}.`, schema: jsonSchemaOf(identifier, 'input') };
  return [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(ofPath()[name] ?? other),
  }));
}

const ofPath = (): Record<string, { description: string; schema: JsonSchema }> => ({
  domainID: { description: 'The identifier of the domain.', schema: jsonSchemaOf(domainId, 'input') },
  cvmID: { description: 'The identifier of the CVM.', schema: jsonSchemaOf(cvmId, 'input') },
  computationID: { description: 'The identifier of the computation.', schema: jsonSchemaOf(identifier, 'input') },
  tile: {
    description: 'The path of the tile or bundle below `tile/`, with its slashes.',
    schema: jsonSchemaOf(tilePath, 'input'),
  },
  secret: {
    description: 'The secret in the link of a mail.',
    schema: { type: 'string', pattern: '^[\\w-]{1,64}\\.[\\w-]{12}\\.[\\w-]{43}$', maxLength: 121 },
  },
  resource: { description: 'The place of the key: `{asset}/key/1`.', schema: { type: 'string', maxLength: 255 } },
});

/**
 * Returns the query parameters of an operation, without `domainID`, which may repeat the domain of the path. The description of
 * the OpenAPI document says why.
 */
function queryParameters(route: Route) {
  const { properties = {}, required = [] } = route.query ? jsonSchemaOf(route.query, 'input') : {};
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as JsonSchema;
    return { name, in: 'query', required: required.includes(name), description, schema: asQuery(rest) };
  });
}

/**
 * Returns the JSON Schema of a query parameter, with a number shown as an integer. The parameter arrives as text and is checked
 * as text, but readers need to know that it is a number.
 */
function asQuery(schema: JsonSchema): JsonSchema {
  if (schema.minimum === undefined) return schema;
  const { pattern: _, maxLength: __, default: given, ...rest } = schema;
  return limited({ ...rest, type: 'integer', default: Number(given) });
}

const etagExample = '"hKTs3cEVkLNaRVKE5KrTqkDbJdfAv1rZ"';
/**
 * The pattern of If-Match and If-None-Match: `*` or a list of entity tags. The service also takes lists with empty elements
 * (shared/http/etags.ts).
 */
const entityTags = String.raw`^(?:\*|(?:W/)?"[!#-~]*"(?:[ \t]*,[ \t]*(?:W/)?"[!#-~]*")*)$`;

const conditions: Record<ConditionalHeader, { name: string; description: string }> = {
  'if-match': {
    name: 'If-Match',
    description:
      'ETags that you received for this resource, or `*`. The request is refused with 412 if this resource has changed since.',
  },
  'if-none-match': {
    name: 'If-None-Match',
    description:
      'ETags that you received for this resource, or `*`. The response is 304 without a body if one of them is still current. A response with a presigned request is never 304.',
  },
};

function conditionParameters({ condition }: Route) {
  if (!condition) return [];
  return [
    {
      ...conditions[condition],
      in: 'header',
      required: false,
      schema: { type: 'string', pattern: entityTags, maxLength: 10_240, examples: [etagExample] },
    },
  ];
}

const keyParameter = {
  name: idempotencyKeyHeader,
  in: 'header',
  required: false,
  description:
    'A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the ' +
    'first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored.',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[ -~]*$',
    examples: ['8e03978e-40d5-43e8-bc93-6894a57f9324'],
  },
};
