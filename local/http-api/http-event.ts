import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { answersHead, type Served } from '../../shared/http/route.ts';

/** The fields of a route of the API that the local HTTP API uses. */
export interface ApiRoute extends Served {
  /** The path of the route as API Gateway writes it: `/{domainID}/computations`. */
  path: string;
  /** The access that the route requires. Absent on a public route, which takes no token. */
  access?: unknown;
}

interface Match<Route extends ApiRoute> {
  route: Route;
  pathParameters: Record<string, string>;
}

/**
 * Finds the route of a request by its method and path, or returns undefined. From left to right, a static segment of a path takes
 * precedence over a parameter.
 * @throws URIError if the percent-encoding of a segment is malformed
 */
export function matchRoute<Route extends ApiRoute>(
  routes: readonly Route[],
  method: string,
  rawPath: string,
): Match<Route> | undefined {
  const segments = rawPath.split('/').map(decodeURIComponent);
  const answers = (route: Route) => route.method === method || (method === 'HEAD' && answersHead(route, routes));
  const fitting = routes.filter((route) => answers(route) && fits(route.path.split('/'), segments));
  const [route] = fitting.sort((a, b) => (rank(a.path) < rank(b.path) ? -1 : 1));
  if (!route) return undefined;
  const parameters = route.path.split('/').flatMap((pattern, index) => {
    const name = parameterName(pattern);
    if (name?.endsWith('+')) return [[name.slice(0, -1), segments.slice(index).join('/')] as const];
    return name === undefined ? [] : [[name, segments[index] ?? ''] as const];
  });
  return { route, pathParameters: Object.fromEntries(parameters) };
}

function fits(patterns: string[], segments: string[]): boolean {
  const rest = patterns.at(-1)?.endsWith('+}') ? patterns.length - 1 : undefined;
  if (rest !== undefined) return fits(patterns.slice(0, rest), segments.slice(0, rest)) && segments.slice(rest).join('') !== '';
  if (patterns.length !== segments.length) return false;
  return patterns.every((pattern, index) =>
    parameterName(pattern) === undefined ? pattern === segments[index] : segments[index] !== '',
  );
}

function parameterName(pattern: string): string | undefined {
  return pattern.startsWith('{') ? pattern.slice(1, -1) : undefined;
}

function rank(path: string): string {
  return path
    .split('/')
    .map((pattern) => (parameterName(pattern) === undefined ? 0 : 1))
    .join('');
}

/** The parts of an HTTP request from which the event of the route's function is built. */
interface ApiRequest {
  message: IncomingMessage;
  requestId: string;
  time: Date;
  rawPath: string;
  rawQueryString: string;
  match: Match<ApiRoute>;
  claims?: Record<string, string>;
  body: Buffer;
}

const neverPassedOn = new Set(['connection', 'cookie', 'keep-alive', 'transfer-encoding']);
const textTypes = /^(text\/|application\/(json|javascript|xml|[\w.-]+\+json|[\w.-]+\+xml)\s*(;|$))/i;

/** Builds the event of a Lambda proxy integration, payload format 2.0, from an HTTP request. */
export function httpEvent(request: ApiRequest): APIGatewayProxyEventV2 {
  const { message, match, time, rawPath, rawQueryString, claims, body } = request;
  const { method = '' } = message;
  const routeKey = `${method} ${match.route.path}`;
  const sourceIp = message.socket.remoteAddress ?? '';
  const host = message.headers.host ?? '';
  const query = queryStringParameters(rawQueryString);
  const isText = textTypes.test(message.headers['content-type'] ?? '') && isUtf8(body);
  const isBase64Encoded = body.length > 0 && !isText;
  return {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString,
    ...(message.headers.cookie === undefined ? {} : { cookies: message.headers.cookie.split('; ') }),
    headers: {
      ...passedHeaders(message),
      'x-forwarded-for': sourceIp,
      'x-forwarded-port': String(message.socket.localPort ?? ''),
      'x-forwarded-proto': 'http',
    },
    ...(query === undefined ? {} : { queryStringParameters: query }),
    ...(Object.keys(match.pathParameters).length === 0 ? {} : { pathParameters: match.pathParameters }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: host,
      domainPrefix: host.split('.')[0] ?? '',
      http: {
        method,
        path: rawPath,
        protocol: `HTTP/${message.httpVersion}`,
        sourceIp,
        userAgent: message.headers['user-agent'] ?? '',
      },
      requestId: request.requestId,
      routeKey,
      stage: '$default',
      time: accessLogTime(time),
      timeEpoch: time.getTime(),
      ...(claims === undefined ? {} : { authorizer: { jwt: { claims, scopes: null } } }),
    },
    ...(body.length === 0 ? {} : { body: body.toString(isBase64Encoded ? 'base64' : 'utf8') }),
    isBase64Encoded,
  };
}

function passedHeaders(message: IncomingMessage): Record<string, string> {
  const headers = Object.entries(message.headersDistinct).filter(([name]) => !neverPassedOn.has(name));
  return Object.fromEntries(headers.map(([name, values]) => [name, (values ?? []).join(',')]));
}

function queryStringParameters(rawQueryString: string): Record<string, string> | undefined {
  const given = Map.groupBy(new URLSearchParams(rawQueryString), ([key]) => key);
  const joined = [...given].map(([key, pairs]) => [key, pairs.map(([, value]) => value).join(',')] as const);
  return joined.length === 0 ? undefined : Object.fromEntries(joined);
}

/** Formats a time as API Gateway does in access logs and events, such as `12/Mar/2026:19:03:58 +0000`. */
function accessLogTime(time: Date): string {
  const [, day, month, year, clock] = time.toUTCString().split(' ');
  return `${day}/${month}/${year}:${clock} +0000`;
}
