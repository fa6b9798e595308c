import createOpenapiClient, { type Client as OpenapiClient } from 'openapi-fetch';
import type { operations, paths, Schemas } from '../generated/api-types.ts';
import { operationRoutes } from '../generated/operation-routes.ts';
import { retryingFetch, type RetryOptions, type Token } from './retrying-fetch.ts';
import { serverAddress } from './web-address.ts';

export interface ClientOptions {
  /**
   * The address of the service, such as `https://api.example.com`; with http only on this machine. In a web page also a path,
   * such as `/`.
   */
  baseUrl: string;
  /** The access token, or what returns it. Without it, only operations that need no token succeed. */
  token?: Token | undefined;
  /** The domain of calls that name none. */
  domain?: string | undefined;
  /** Default: the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  retry?: RetryOptions;
  /** Ends all calls, and those to come, which reject with its reason. */
  signal?: AbortSignal | undefined;
}

/** The operations of the API as methods, which return the body of the response. */
type Operations = {
  readonly [O in keyof typeof operationRoutes]: O extends 'getComputation'
    ? <Peek extends PeekValue = undefined>(
        given: Omit<ComputationArguments<Peek>, 'ifNoneMatch'>,
      ) => Promise<ComputationAnswer<Peek>>
    : (...given: OptionalIfEmpty<Omit<Arguments<O>, 'ifNoneMatch'>>) => Promise<Data<O>>;
};

interface Call {
  <Peek extends PeekValue = undefined>(
    operation: 'getComputation',
    given: ComputationArguments<Peek>,
  ): Promise<Answer<ComputationAnswer<Peek>>>;
  <O extends Operation>(operation: O, ...given: OptionalIfEmpty<Arguments<O>>): Promise<Answer<Data<O>>>;
}

interface Answer<Body> {
  data: Body | undefined;
  response: Response;
}

export interface Client extends Operations {
  readonly baseUrl: string;
  readonly domain: string | undefined;
  /** Returns the response too. `data` is undefined if it has no body (204, 304). */
  readonly call: Call;
  /** The client of openapi-fetch underneath, with the same token, retries and errors. */
  readonly http: OpenapiClient<paths>;
}

/**
 * Creates a client of the service, for browsers and Node 20.12 or newer. Its calls throw ServiceProblem, or their signal's
 * reason.
 * @throws AddressError if the address is none to send a token to
 */
export function createClient(options: ClientOptions): Client {
  const { domain, token, retry, signal: ending } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  if (!baseUrl.startsWith('/') && baseUrl !== '') serverAddress(baseUrl);
  const plainFetch = options.fetch ?? ((request) => fetch(request));
  const send = retryingFetch({ ...retry, token, fetch: plainFetch });
  const sendUntilEnded = (request: Request) =>
    send(ending ? new Request(request, { signal: AbortSignal.any([request.signal, ending]) }) : request);
  const http = createOpenapiClient<paths>({ baseUrl, fetch: sendUntilEnded });

  const call = async (operation: Operation, given: Record<string, unknown> = {}) => {
    const { body, signal, domainID = domain, idempotencyKey, ifMatch, ifNoneMatch, ...values } = given;
    const [method, path] = operationRoutes[operation].split(' ') as ['GET', '/{domainID}/computations'];
    const inPath: Record<string, unknown> = { ...values, domainID };
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const init = {
      params: {
        path: Object.fromEntries(names.map((name) => [name, segment(name, inPath[name])])),
        query: Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name))),
        header: { 'Idempotency-Key': idempotencyKey, 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch },
      },
      ...(body === undefined ? {} : { body }),
      ...(signal instanceof AbortSignal ? { signal } : {}),
    };
    const { data, response } = await http.request(method.toLowerCase() as 'get', path, init as never);
    return { data, response };
  };

  const names = Object.keys(operationRoutes) as Operation[];
  const methods = names.map((name) => [name, async (given?: Record<string, unknown>) => (await call(name, given)).data]);
  return { ...(Object.fromEntries(methods) as Operations), baseUrl, domain, call: call, http };
}

/** @throws PathParameterError for a value that would change the path of the request */
function segment(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value !== '.' && value !== '..') return value;
  throw new PathParameterError(name, value);
}

/** The name of an operation in the OpenAPI document. */
export type Operation = keyof typeof operationRoutes;

export interface CallOptions {
  /** Default: that of the client. */
  domainID?: string | undefined;
  /** Ends the call and its retries, which reject with its reason. */
  signal?: AbortSignal | undefined;
}

/** Parameters of path and query, and the `body`. Default `idempotencyKey`: one for each call. */
export type Arguments<O extends Operation> = Simplified<
  Omit<Parameters<O, 'path'>, 'domainID'> &
    Parameters<O, 'query'> &
    Body<O> &
    Header<O, 'Idempotency-Key', { idempotencyKey?: string | undefined }> &
    Header<O, 'If-Match', { ifMatch?: string | undefined }> &
    Header<O, 'If-None-Match', { ifNoneMatch?: string | undefined }> &
    CallOptions
>;

export type OptionalIfEmpty<Given> = object extends Given ? [given?: Given] : [given: Given];

/** `undefined` for an operation that answers 204. */
export type Data<O extends Operation> = operations[O]['responses'][keyof operations[O]['responses']] extends {
  content: { 'application/json': infer Answer };
}
  ? Answer
  : undefined;

type ComputationArguments<Peek extends PeekValue> = Omit<Arguments<'getComputation'>, 'peek'> & { peek?: Peek };

/** The answer of `getComputation`: with `peek: 'true'` the computation's row in the list, else the whole computation. */
type ComputationAnswer<Peek extends PeekValue> = Peek extends 'true' ? Schemas['ComputationRow'] : Schemas['Computation'];

type PeekValue = Arguments<'getComputation'>['peek'];

type Parameters<O extends Operation, Place extends 'path' | 'query'> = OrNothing<NonNullable<operations[O]['parameters'][Place]>>;

type Header<O extends Operation, Name extends string, Given> = Name extends keyof OrNothing<
  NonNullable<operations[O]['parameters']['header']>
>
  ? Given
  : Nothing;

type Body<O extends Operation> = operations[O] extends { requestBody: { content: { 'application/json': infer Given } } }
  ? { body: Given }
  : Nothing;

type Nothing = object;
type OrNothing<Values> = [Values] extends [never] ? Nothing : Values;
/** Optional properties may also be `undefined`. */
type Simplified<Values> = {
  [Name in keyof Values]: object extends Pick<Values, Name> ? Values[Name] | undefined : Values[Name];
};

/** Thrown for a parameter of a path that would name another path, such as `..`. */
export class PathParameterError extends TypeError {
  override readonly name = 'PathParameterError';
  readonly parameter: string;
  readonly value: unknown;

  constructor(parameter: string, value: unknown) {
    super(`${parameter} is ${JSON.stringify(value)}; expected an identifier.`);
    this.parameter = parameter;
    this.value = value;
  }
}

export interface WholeAnswer<Body> {
  data: Body;
  etag: string | undefined;
  /** The digest of the manifest and of the configuration. */
  digest: string | undefined;
  configurationDigest: string | undefined;
  /** The clock of the service, or of this machine if the answer has none. Milliseconds since 1970. */
  now: number;
}

/**
 * Returns an answer with its etag and digests.
 * @throws TypeError if it has no body, which only an answer to `ifNoneMatch` may lack
 */
export function wholeAnswer<Body>({ data, response }: { data: Body | undefined; response: Response }): WholeAnswer<Body> {
  if (data === undefined) throw new TypeError(`The answer of status ${response.status} has no body.`);
  const { headers } = response;
  const header = (name: string) => headers.get(name) ?? undefined;
  const now = Date.parse(headers.get('date') ?? '');
  return {
    data,
    etag: header('etag'),
    digest: header('manifest-digest'),
    configurationDigest: header('configuration-digest'),
    now: Number.isNaN(now) ? Date.now() : now,
  };
}
