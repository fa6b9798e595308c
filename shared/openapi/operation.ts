import { rolesWith } from 'computation-management-formats/vocabulary';
import { type Relation, relationNames } from '../http/caller.ts';
import { eitherOf } from '../runtime/errors.ts';
import { routes, type KnownRoute } from '../endpoints/endpoints.ts';
import { isLimited, statusOf, takesKey, type Route } from '../http/route.ts';
import { examples } from './examples.ts';
import {
  etagHeader,
  everyResponse,
  optionalTextHeaders,
  rateLimitHeaders,
  replayedHeaderObject,
  textHeaders,
} from './headers.ts';
import type { Components } from './json-schema.ts';
import { parameters } from './parameters.ts';
import { failures } from './problems.ts';

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
