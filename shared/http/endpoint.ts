import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithJWTAuthorizer, Context } from 'aws-lambda';
import { strictObject } from 'computation-management-formats/fields';
import { cvmId, domainId, shortened } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { callerOf, requireAccess, type Access, type Caller, type Permitted, type Relation, type Relations } from './caller.ts';
import {
  maxRetryTimeInMilliseconds,
  type DeadlineSource,
  clockOf,
  deadlineOfInvocation,
  type Invocation,
  timestampOf,
} from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import { invalid } from '../runtime/errors.ts';
import { statusOf, type Route, type TakesKey } from './route.ts';
import { emitMetric, log, withLogFields } from '../runtime/log.ts';
import { parameterNames, parseInput, refuseRepeatedParameter, readBody, readForm } from './parse.ts';
import { parseCondition, type ConditionalHeader, type Names } from './etags.ts';
import { problemResponse, toServiceError, type HttpResponse } from './problem.ts';

type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Greedy}+` ? Greedy : Name) | ParameterNames<Rest>
  : never;

/** The type of what a schema parses a part of a request or response to. Undefined without a schema. */
export type Parsed<S> = S extends v.GenericSchema ? v.InferOutput<S> : undefined;

type StringMap = Record<string, string | undefined>;

/** A request as API Gateway passed it on, before anything was parsed. */
export interface Received {
  method: string;
  /** The headers of a request, by their names in lower case. */
  headers: StringMap;
  /** The cookies of a request, each as `name=value`. */
  cookies: readonly string[];
  path: StringMap;
  query: StringMap;
  body: string | undefined;
  isBase64Encoded: boolean;
}

/** Returns the bytes of a request's body as the caller sent them. Returns no bytes if the request has no body. */
export const bytesOf = ({ body = '', isBase64Encoded }: Received): Buffer =>
  Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');

/**
 * Returns the base URL of the service, as the caller of a request reached it.
 * @throws ServiceError `invalid_request` if the request names no host
 */
export function baseUrlOf({ headers: { host, 'x-forwarded-proto': scheme } }: Received): string {
  if (host !== undefined && /^[\w.:[\]-]+$/.test(host)) return `${scheme === 'http' ? 'http' : 'https'}://${host}`;
  throw invalid('header/host', 'Expected the host of the service.');
}

/** A request as a handler gets it: parsed by the schemas of its endpoint. */
export interface EndpointRequest<R extends Route> {
  path: Record<ParameterNames<R['path']>, string>;
  query: Parsed<R['query']>;
  body: Parsed<R['body']>;
  caller: Caller;
  /** True for a HEAD, whose answer has no body. Such a request must not wait, and no content counts as read. */
  isHead: boolean;
  /**
   * Checks the access of a request to an endpoint that is open to users with a relation to the resource, such as its owner.
   * @throws ServiceError `forbidden` if neither role nor relation allows the request
   */
  permit: (relations: Relations) => Permitted;
  /**
   * Returns whether the header If-Match of the request names one of the given ETags. Undefined if the endpoint takes no
   * If-Match, or the request has none.
   */
  ifMatch: Names | undefined;
  /**
   * Returns whether the header If-None-Match of the request names one of the given ETags. Undefined if the endpoint takes no
   * If-None-Match, or the request has none.
   */
  ifNoneMatch: Names | undefined;
  /** The time of the request by the service's clock: RFC 3339, UTC, milliseconds. */
  now: string;
  /**
   * Returns the deadline of the request, for openTable. All retries share it. If the endpoint waits, each operation has a
   * deadline of its own.
   */
  deadline: DeadlineSource;
  invocation: Invocation;
  received: Received;
}

interface NotModified {
  body?: never;
  notModified: true;
}

type Content<R extends Route> = [R] extends [{ response: infer S extends v.GenericSchema }]
  ? { body: v.InferInput<S>; notModified?: never } | ([R] extends [{ condition: 'if-none-match' }] ? NotModified : never)
  : { body?: never; notModified?: never };

/**
 * The answer of a handler. It has a body exactly if the contract has a response, an ETag exactly if the contract has one, and
 * says whether the resource was created if that has a status of its own. If the endpoint is open to users with a relation to the
 * resource, it also has the proof of `permit`, since nothing else has checked the access then.
 */
export type Reply<R extends Route> = Content<R> &
  ([R] extends [{ etag: true }] ? { etag: string } : { etag?: never }) &
  ([R] extends [{ statusIfNew: 201 }] ? { isNew: boolean } : { isNew?: never }) &
  ([R] extends [{ access: { or: readonly Relation[] } }] ? { permitted: Permitted } : { permitted?: never }) & {
    headers?: Record<string, string>;
    /**
     * True if the answer was stored for an earlier request with the same Idempotency-Key. Its body was checked against the
     * schema when it was made.
     */
    isKept?: true;
  };

type HttpEvent = APIGatewayProxyEventV2WithJWTAuthorizer;
interface AcceptedEvent extends Pick<HttpEvent, 'headers' | 'requestContext' | 'isBase64Encoded'> {
  pathParameters?: StringMap | null | undefined;
  queryStringParameters?: StringMap | null | undefined;
  rawQueryString?: string;
  cookies?: string[];
  body?: unknown;
  received?: Received;
  caller?: Caller | undefined;
}

type Layer = middy.MiddlewareObj<AcceptedEvent, HttpResponse, Error, Context>;

/** The answer of the handler of any endpoint, without the types of that endpoint. */
export interface Answer {
  body?: unknown;
  notModified?: true;
  etag?: string;
  /** True if the request created the resource. The status of the response is then `statusIfNew` of the endpoint. */
  isNew?: boolean;
  headers?: Record<string, string>;
  isKept?: boolean;
}

/**
 * Makes the handler of an endpoint that takes no Idempotency-Key. `changeEndpoint` makes the handlers of endpoints that take
 * one.
 */
export function endpoint<const R extends Route>(
  route: R & (TakesKey<R> extends true ? never : unknown),
  work: (request: EndpointRequest<R>) => Promise<Reply<R>> | Reply<R>,
) {
  return anyEndpoint<R>(route, work);
}

/**
 * Makes the handler of an endpoint, with all its layers: request id and log, identity and access, body, input and output schemas,
 * problem+json. Roles are checked before the body is read. Relations to the resource, such as the owner's, are checked by `work`.
 */
export function anyEndpoint<const R extends Route>(route: R, work: (request: EndpointRequest<R>) => Promise<Answer> | Answer) {
  const { access, name, body }: Route = route;
  const layers: Layer[] = [
    { before: ({ event }) => void (event.received = receivedOf(event)) },
    ...(access ? [{ before: ({ event }) => identify(access, event) } satisfies Layer] : []),
    ...(body ? [bodyReader(route)] : []),
    { onError: (request) => void (request.response = failure(name, request.error, request.event)) },
  ];
  const handler = middy<AcceptedEvent, HttpResponse, Error, Context>()
    .use(layers)
    .handler(async (event: AcceptedEvent, context: Invocation) => {
      const { received } = event;
      if (!received) throw new Error('No layer has kept the request as it came.');
      const query = queryOf(route, event);
      const caller = event.caller ?? nobody;
      const newDeadline = () => deadlineOfInvocation(context, maxRetryTimeInMilliseconds);
      const deadline = newDeadline();
      const reply = await work({
        path: { ...event.pathParameters } as Record<ParameterNames<R['path']>, string>,
        query: query as Parsed<R['query']>,
        body: (body ? parseInput(body, event.body, '') : undefined) as Parsed<R['body']>,
        caller,
        isHead: received.method === 'HEAD',
        ifMatch: conditionOf(route, 'if-match', event),
        ifNoneMatch: conditionOf(route, 'if-none-match', event),
        permit: (relations) => requireAccess(caller, access ?? { anyOf: [] }, relations),
        now: timestampOf(clockOf(context)),
        deadline: route.waits ? newDeadline : () => deadline,
        invocation: context,
        received,
      });
      return withoutBodyOfHead(success(route, reply, event.requestContext.requestId), received.method);
    });
  return (given: AcceptedEvent, context: Context): Promise<HttpResponse> => {
    const pathParameters = withLowerCaseIds(given.pathParameters);
    const event = { ...given, pathParameters };
    const { requestContext } = event;
    const fields = { endpoint: name, request_id: requestContext.requestId, ...logFieldsOf(route, pathParameters) };
    return withLogFields(fields, () => handler(event, context));
  };
}

/**
 * Converts the UUIDs of a path to lower case, because callers may send upper case (docs/contract.md, section 1), and cuts texts that are
 * longer. Identifiers of domains and CVMs, secrets, and the paths of keys and tiles stay.
 */
function withLowerCaseIds(path: AcceptedEvent['pathParameters']): StringMap {
  const idOf = (name: string, value = '') => (keepingCase.has(name) ? value : shortened(value.toLowerCase()));
  return Object.fromEntries(Object.entries(path ?? {}).map(([name, value]) => [name, idOf(name, value)]));
}

const keepingCase = new Set(['domainID', 'cvmID', 'secret', 'resource', 'tile']);

function receivedOf(event: AcceptedEvent): Received {
  const { requestContext, headers, cookies = [], pathParameters, queryStringParameters, body, isBase64Encoded } = event;
  const sent = { headers, cookies, body: typeof body === 'string' ? body : undefined, isBase64Encoded };
  return { method: requestContext.http.method, path: pathParameters ?? {}, query: queryStringParameters ?? {}, ...sent };
}

const noQuery = strictObject({});
const pathSchema = v.object({ domainID: domainId, cvmID: v.optional(cvmId) });
const nobody: Caller = { id: '', roles: new Set(), actions: new Set() };

/**
 * Finds out who sends a request, from the claims of the access token, and puts the caller into the event. Checks the access only
 * to endpoints where it depends on the caller's roles alone.
 */
function identify(access: Access, event: AcceptedEvent): void {
  const { domainID, cvmID } = parseInput(pathSchema, event.pathParameters, 'path');
  const caller = callerOf(event.requestContext.authorizer.jwt.claims, environment().MEMBERSHIP_CLAIM, domainID, cvmID);
  if (!access.or) requireAccess(caller, access);
  refuseRepeatedParameter(event.rawQueryString, ['domainID']);
  const twin = event.queryStringParameters?.['domainID'];
  if (twin !== undefined && twin !== domainID) throw invalid('query/domainID', `Expected ${domainID}, the domain in the path.`);
  event.caller = caller;
}

function queryOf({ query: schema = noQuery }: Route, { queryStringParameters, rawQueryString }: AcceptedEvent): unknown {
  const { domainID: _, ...given } = queryStringParameters ?? {};
  refuseRepeatedParameter(rawQueryString, parameterNames(schema));
  return parseInput(schema, given, 'query');
}

/**
 * Makes the layer of a handler that parses the body of a request, as JSON or as a form. A field `__proto__` of the body stays an own field, so
 * that the schema can refuse it by its name.
 */
function bodyReader({ bodyLimit, isForm }: Route): Layer {
  if (isForm) return { before: ({ event }) => void (event.body = readForm(event, bodyLimit)) };
  return {
    before: ({ event }) => {
      const text = readBody(event, bodyLimit);
      try {
        event.body = JSON.parse(text);
      } catch {
        throw invalid('', 'Expected well-formed JSON.'); // defence
      }
    },
  };
}

function conditionOf({ condition }: Route, header: ConditionalHeader, { headers }: AcceptedEvent): Names | undefined {
  const value = headers[header];
  return condition === header && value !== undefined ? parseCondition(header, value) : undefined;
}

function success(route: Route, reply: Answer, requestId: string): HttpResponse {
  const etag = reply.etag === undefined ? {} : { etag: reply.etag };
  const headers = { 'x-request-id': requestId, 'cache-control': 'no-store', ...etag, ...reply.headers };
  if (reply.notModified) return { statusCode: 304, headers, body: '' };
  const statusCode = (reply.isNew && route.statusIfNew) || statusOf(route);
  if (!route.response) return { statusCode, headers, body: '' };
  const body = reply.isKept ? reply.body : v.parse(route.response, reply.body);
  if (route.media) {
    const { type, isBinary = false } = route.media;
    const contentType = isBinary ? type : `${type}; charset=utf-8`;
    return { statusCode, headers: { 'content-type': contentType, ...headers }, body: String(body), isBase64Encoded: isBinary };
  }
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

function failure(name: string, thrown: unknown, event: AcceptedEvent): HttpResponse {
  const error = toServiceError(thrown);
  const isOurs = error.code === 'internal' || error.code === 'unavailable';
  if (isOurs) {
    log('ERROR', error.message, { code: error.code }, error.cause ?? error);
    emitMetric('RequestsFailed', 1, { endpoint: name });
  } else log('INFO', error.message, { code: error.code });
  const { requestId, http } = event.requestContext;
  return withoutBodyOfHead(problemResponse(error, requestId), http.method);
}

const stableNames: Record<string, string> = { domainID: 'domain', computationID: 'computation_id', cvmID: 'cvm_id' };

/**
 * Returns the fields of the log that name what a request is about: `domain`, `computation_id`, `asset_id`, `cvm_id`. Tasks use
 * the same names.
 */
export function logFieldsOf(route: Pick<Route, 'path'>, parameters: StringMap | null | undefined): Record<string, unknown> {
  const id = route.path.startsWith('/{domainID}/assets/') ? 'asset_id' : 'computation_id';
  return Object.fromEntries(
    Object.entries(parameters ?? {})
      .filter(([name]) => name !== 'secret')
      .map(([name, value]) => [name === 'id' ? id : (stableNames[name] ?? name), value]),
  );
}

/** Removes the body of the answer to a HEAD. Status and headers are those of the answer to GET (RFC 9110, section 9.3.2). */
const withoutBodyOfHead = (response: HttpResponse, method: string): HttpResponse =>
  method === 'HEAD' ? { ...response, body: '' } : response;
