import createOpenapiClient, { type Client as OpenapiClient } from 'openapi-fetch';
import type { paths } from './api-types.ts';
import { operationRoutes } from './operation-routes.ts';
import type {
  Arguments,
  ComputationAnswer,
  ComputationArguments,
  Data,
  Operation,
  OptionalIfEmpty,
  PeekValue,
} from './operation.ts';
import { PathParameterError } from './path-parameter-error.ts';
import { retryingFetch, type RetryOptions, type Token } from './retrying-fetch.ts';

export interface ClientOptions {
  /** Where the service is, such as `https://api.example.com`. In a web page also a path, such as `/`. */
  baseUrl: string;
  /** Without it, only operations that need no token succeed. */
  token?: Token | undefined;
  /** The domain of calls that name none. */
  domain?: string | undefined;
  /** Default: the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  retry?: RetryOptions;
  /** Ends all calls, and those to come. They then reject with its reason. */
  signal?: AbortSignal | undefined;
}

/** A method for each operation of the API. It returns the body of the response. */
export type Operations = {
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
  /**
   * Calls an operation by its name. Returns the response beside its body, for headers such as `etag`. `data` is
   * undefined if the response has no body: a 204, or a 304 after `ifNoneMatch`.
   */
  readonly call: Call;
  /** The openapi-fetch client underneath, with the same token, retries and errors. */
  readonly http: OpenapiClient<paths>;
}

/**
 * Creates a client of the service. It works in browsers and on Node 20.12 or newer. Every call throws ServiceProblem if it failed,
 * or the reason of its signal.
 */
export function createClient(options: ClientOptions): Client {
  const { domain, token, retry, signal: ending } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
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
