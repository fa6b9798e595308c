import createOpenapiClient, { type Client as OpenapiClient } from 'openapi-fetch';
import type { operations, paths, Schemas } from '../generated/api-types.ts';
import { operationRoutes } from '../generated/operation-routes.ts';
import { retryingFetch, type RetryOptions, type Token } from './retrying-fetch.ts';
import { serverAddress } from './web-address.ts';

export interface ClientOptions {
  /**
   * The address of the service, such as `https://api.example.com`. With http only if the service is on this machine. In a web
   * page also a path, such as `/`.
   */
  baseUrl: string;
  /** The access token of the calls, or a function that returns it. Without a token, only operations that need none succeed. */
  token?: Token | undefined;
  /** The identifier of the domain in which a call is made that names no `domainID`. */
  domain?: string | undefined;
  /** The function that sends a request. Default: the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  retry?: RetryOptions;
  /** A signal that ends all calls of the client, also later ones. They reject with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The operations of the API as methods of a client. Each returns the body of the response. */
type Operations = {
  readonly [O in keyof typeof operationRoutes]: O extends 'getComputation'
    ? <Peek extends PeekValue = undefined>(
        given: Omit<ComputationArguments<Peek>, 'ifNoneMatch'>,
      ) => Promise<ComputationAnswer<Peek>>
    : O extends 'approve'
      ? <Decision extends Arguments<'approve'>['body']>(
          given: Omit<Arguments<'approve'>, 'body'> & { body: Decision },
        ) => Promise<DecisionAnswer<Decision>>
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
  /**
   * Calls an operation of the API by its name, and returns the response besides its body. `data` is undefined for a response
   * without a body (204, 304).
   */
  readonly call: Call;
  /** The client of openapi-fetch that sends the calls, for requests of other kinds. It has the same token, retries and errors. */
  readonly http: OpenapiClient<paths>;
}

/**
 * Creates a client of the service, for browsers and Node 20.12 or newer. Calls of the client throw ServiceProblem, or the reason
 * of their signal.
 * @throws AddressError if `baseUrl` is not an address that a token may be sent to
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

/**
 * Returns the value of a path parameter, checked.
 * @throws PathParameterError if the value is empty or no text, or would change the path of the request
 */
function segment(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value !== '.' && value !== '..') return value;
  throw new PathParameterError(name, value);
}

/** The name of an operation of the API, as in its OpenAPI document. */
export type Operation = keyof typeof operationRoutes;

export interface CallOptions {
  /** The identifier of the domain in which the call is made. Default: the domain of the client. */
  domainID?: string | undefined;
  /** A signal that ends the call and its retries, so that the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * The arguments of an operation of the API: its parameters of path and query, its `body`, and some headers. Default of
 * `idempotencyKey`: a new key for each call.
 */
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

/** The body of an operation's successful response. `undefined` for an operation that answers 204. */
export type Data<O extends Operation> = operations[O]['responses'][keyof operations[O]['responses']] extends {
  content: { 'application/json': infer Answer };
}
  ? Answer
  : undefined;

type ComputationArguments<Peek extends PeekValue> = Omit<Arguments<'getComputation'>, 'peek'> & { peek?: Peek };

/**
 * The body that `getComputation` returns: with `peek: 'true'` the computation's row in the list of computations, else the whole
 * computation.
 */
type ComputationAnswer<Peek extends PeekValue> = Peek extends 'true' ? Schemas['ComputationRow'] : Schemas['Computation'];

/** The body that `approve` returns: the refusal for `{decision: 'refuse', reason}`, else the approval. */
type DecisionAnswer<Decision> = Decision extends { decision: 'refuse' } ? Schemas['Refusal'] : Schemas['Approval'];

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
/** The same properties in one object type. Optional properties may also be given as `undefined`. */
type Simplified<Values> = {
  [Name in keyof Values]: object extends Pick<Values, Name> ? Values[Name] | undefined : Values[Name];
};

/** The error for a value of a path parameter that would change the path of a request, such as `..`. */
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
  /**
   * The digest of the computation's manifest, from the response header. `configurationDigest` is the digest of its configuration.
   * Undefined in answers about other things.
   */
  digest: string | undefined;
  configurationDigest: string | undefined;
  /**
   * The time of the answer by the clock of the service, or of this machine if the answer has no date. Milliseconds since 1970.
   */
  now: number;
}

/**
 * Returns the body of an answer with the values of its headers: the etag, the digests and the time.
 * @throws TypeError if the answer has no body, which only an answer to `ifNoneMatch` may lack
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
