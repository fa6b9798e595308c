import { growingPause, retry } from './retry.ts';
import { causeOf, problemOf, ServiceProblem } from './service-problem.ts';

/**
 * A function that returns the access token for a request. `refused` is the token that the service has just refused, if any: then
 * another token is wanted.
 */
export type TokenSource = (request: { refused?: string; signal: AbortSignal }) => Promise<string>;

export type Token = string | TokenSource;

export interface RetryOptions {
  /**
   * The most attempts of a request, with the first one. Default 6. A request for evidence whose entries are not in the log yet has
   * 6 more.
   */
  attempts?: number;
  /**
   * The pause after the first failed attempt of a request, in milliseconds. It doubles with each further attempt. Default 250.
   */
  firstPauseInMilliseconds?: number;
  /**
   * The longest pause between two attempts of a request, in milliseconds, except where the service asks for a longer one. Default
   * 10,000.
   */
  longestPauseInMilliseconds?: number;
  /**
   * The time limit of one attempt of a request, in milliseconds. A second is added for each 16 kB of the answer. Default 60,000.
   */
  timeoutInMilliseconds?: number;
  onRetry?: (retry: { problem: ServiceProblem; attempt: number; pauseInMilliseconds: number }) => void;
}

interface RetryingFetchOptions extends RetryOptions {
  token: Token | undefined;
  fetch: (request: Request) => Promise<Response>;
}

/**
 * The longest pause that a client makes because the service asks for it (`Retry-After`), in milliseconds. If a longer one is
 * asked for, the request is not retried.
 */
const longestAskedPauseInMilliseconds = 60_000;
/** The slowest connection for which time limits are made, in bytes a second: 128 kbit/s. */
const slowestInBytesPerSecond = 16_000;
const passing = [0, 429, 502, 503, 504];
/** The further attempts while the log does not have the entries that are asked for. It may take 30 seconds: with three others, these take longer. */
const attemptsOfPending = 8;
const changing = ['POST', 'PUT', 'DELETE'];

/**
 * Returns a `fetch` that adds the access token to requests, and retries those without an answer or with an answer of 429, 502,
 * 503 or 504, or of 409 `log_pending`. All attempts of one change have the same `Idempotency-Key`. After a 401, another token is asked for once. The
 * returned function throws ServiceProblem, or the reason of the request's signal.
 */
export function retryingFetch(options: RetryingFetchOptions): (request: Request) => Promise<Response> {
  const { attempts = 6, firstPauseInMilliseconds = 250, longestPauseInMilliseconds = 10_000, onRetry } = options;
  return async (request) => {
    if (changing.includes(request.method) && !request.headers.has('idempotency-key')) {
      request.headers.set('idempotency-key', newKey());
    }
    const pauseAfter = (problem: unknown, failures: number) => {
      if (!(problem instanceof ServiceProblem)) return undefined;
      const { retryAfterInMilliseconds: askedPause } = problem;
      const isPending = problem.reason === 'log_pending';
      const most = isPending ? attempts + attemptsOfPending : attempts;
      const isLast = failures >= most || askedPause > longestAskedPauseInMilliseconds;
      if (isLast || !(isPending || passing.includes(problem.status))) return undefined;
      const growing = growingPause(failures, firstPauseInMilliseconds, longestPauseInMilliseconds);
      const pauseInMilliseconds = Math.max(growing * (0.5 + Math.random() / 2), askedPause);
      onRetry?.({ problem, attempt: failures, pauseInMilliseconds });
      return pauseInMilliseconds;
    };
    return await retry(() => sendAuthorized(request, options), { signal: request.signal, pauseAfter });
  };
}

async function sendAuthorized(request: Request, options: RetryingFetchOptions): Promise<Response> {
  const { token } = options;
  if (typeof token !== 'function') return await send(request, token, options);
  const { signal } = request;
  const first = await token({ signal });
  try {
    return await send(request, first, options);
  } catch (error) {
    if (!(error instanceof ServiceProblem) || error.status !== 401) throw error;
    const second = await token({ refused: first, signal });
    if (second === first) throw error;
    return await send(request, second, options);
  }
}

async function send(request: Request, token: string | undefined, options: RetryingFetchOptions): Promise<Response> {
  const { timeoutInMilliseconds = 60_000, fetch } = options;
  const name = `${request.method} ${new URL(request.url).pathname}`;
  const headers = new Headers(request.headers);
  if (token !== undefined) {
    if (!bearerToken.test(token)) throw new ServiceProblem({ ...notAToken, request: name });
    headers.set('authorization', `Bearer ${token}`);
  }
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException('The time limit of the request is over.', 'TimeoutError'));
  const endsAt = performance.now() + timeoutInMilliseconds;
  let timer = setTimeout(end, timeoutInMilliseconds);
  const signal = AbortSignal.any([request.signal, limit.signal]);
  try {
    const response = await fetch(new Request(request.clone(), { headers, signal, redirect: 'manual' }));
    if (response.type === 'opaqueredirect' || isRedirect(response.status)) throw redirected(response, name);
    const length = Number(response.headers.get('content-length')) || 0;
    clearTimeout(timer);
    timer = setTimeout(end, endsAt - performance.now() + (length / slowestInBytesPerSecond) * 1_000);
    if (!response.ok && response.status !== 304) throw await problemOf(response, name);
    return await whole(response, name);
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof ServiceProblem) throw error;
    const detail = `No answer from ${new URL(request.url).origin}: ${causeOf(error)}`;
    throw new ServiceProblem({ status: 0, code: 'unreachable', detail, request: name }, error);
  } finally {
    clearTimeout(timer);
  }
}

/** The form of a bearer token (RFC 6750, section 2.1). */
const bearerToken = /^[A-Za-z0-9._~+/-]+=*$/;

const notAToken = { status: 401, code: 'unauthenticated', detail: 'The token has characters that no token has.' } as const;

const isRedirect = (status: number) => status >= 300 && status < 400 && status !== 304;

/**
 * Returns the problem of a request that the server redirects. The client does not follow, because token and body go only to the
 * server that the caller has named.
 */
function redirected({ status }: Response, request: string): ServiceProblem {
  const detail = 'The server redirects to another address. Neither the token nor the request goes there.';
  return new ServiceProblem({ status: status || 307, code: 'unexpected', detail, request }); // browsers hide the status
}

/**
 * Reads the whole body of a response, so that a connection that breaks meanwhile counts as a failed attempt. A body that is not
 * JSON is not from the service, so it is a problem.
 */
async function whole(response: Response, name: string): Promise<Response> {
  if ([204, 304].includes(response.status)) return response;
  const text = await response.text();
  const read = new Response(text, response);
  if (isJson(text)) return read;
  throw await problemOf(read, name);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Makes an idempotency key: 32 random hex digits. Also in pages without https, which lack `crypto.randomUUID`. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
