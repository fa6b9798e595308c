import { growingPause, retry } from './retry.ts';
import { causeOf, problemOf, ServiceProblem } from './service-problem.ts';

/** `refused` is a token that the service has just refused. */
export type TokenSource = (request: { refused?: string; signal: AbortSignal }) => Promise<string>;

export type Token = string | TokenSource;

export interface RetryOptions {
  /** Default 6. */
  attempts?: number;
  /** The pause after the first attempt, in milliseconds. It doubles with each further one. Default 250. */
  firstPauseInMilliseconds?: number;
  /** Except where the service asks for more. Default 10,000. */
  longestPauseInMilliseconds?: number;
  /** The milliseconds that one attempt may take, besides a second for each 16 kB of its answer. Default 60,000. */
  timeoutInMilliseconds?: number;
  onRetry?: (retry: { problem: ServiceProblem; attempt: number; pauseInMilliseconds: number }) => void;
}

interface RetryingFetchOptions extends RetryOptions {
  token: Token | undefined;
  fetch: (request: Request) => Promise<Response>;
}

type Outcome = { response: Response } | { problem: ServiceProblem; askedPauseInMilliseconds: number };

/** A longer pause that the service asks for ends the retries. */
const longestAskedPauseInMilliseconds = 60_000;
/** 128 kbit/s. */
const slowestInBytesPerSecond = 16_000;
const passing = [0, 429, 502, 503, 504];
const changing = ['POST', 'PUT', 'DELETE'];

/**
 * Adds the token and retries requests without an answer, and after 429, 502, 503 and 504. All attempts of a change have one
 * `Idempotency-Key`. After a 401, asks once for another token.
 * @throws ServiceProblem; the reason of the request's signal
 */
export function retryingFetch(options: RetryingFetchOptions): (request: Request) => Promise<Response> {
  const { attempts = 6, firstPauseInMilliseconds = 250, longestPauseInMilliseconds = 10_000, onRetry } = options;
  return async (request) => {
    if (changing.includes(request.method) && !request.headers.has('idempotency-key')) {
      request.headers.set('idempotency-key', newKey());
    }
    let askedPauseInMilliseconds = 0;
    const attempt = async () => {
      const outcome = await sendAuthorized(request, options);
      if ('response' in outcome) return outcome.response;
      ({ askedPauseInMilliseconds } = outcome);
      throw outcome.problem;
    };
    const pauseAfter = (problem: unknown, failures: number) => {
      const isLast = failures >= attempts || askedPauseInMilliseconds > longestAskedPauseInMilliseconds;
      if (isLast || !(problem instanceof ServiceProblem) || !passing.includes(problem.status)) return undefined;
      const growing = growingPause(failures, firstPauseInMilliseconds, longestPauseInMilliseconds);
      const pauseInMilliseconds = Math.max(growing * (0.5 + Math.random() / 2), askedPauseInMilliseconds);
      onRetry?.({ problem, attempt: failures, pauseInMilliseconds });
      return pauseInMilliseconds;
    };
    return await retry(attempt, { signal: request.signal, pauseAfter });
  };
}

async function sendAuthorized(request: Request, options: RetryingFetchOptions): Promise<Outcome> {
  const { token } = options;
  if (typeof token !== 'function') return await send(request, token, options);
  const { signal } = request;
  try {
    const first = await token({ signal });
    const outcome = await send(request, first, options);
    if ('response' in outcome || outcome.problem.status !== 401) return outcome;
    const second = await token({ refused: first, signal });
    return second === first ? outcome : await send(request, second, options);
  } catch (error) {
    if (error instanceof ServiceProblem) return { problem: error, askedPauseInMilliseconds: 0 }; // of the token's issuer
    throw error;
  }
}

async function send(request: Request, token: string | undefined, options: RetryingFetchOptions): Promise<Outcome> {
  const { timeoutInMilliseconds = 60_000, fetch } = options;
  const name = `${request.method} ${new URL(request.url).pathname}`;
  const headers = new Headers(request.headers);
  if (token !== undefined) {
    if (!bearerToken.test(token))
      return { problem: new ServiceProblem({ ...notAToken, request: name }), askedPauseInMilliseconds: 0 };
    headers.set('authorization', `Bearer ${token}`);
  }
  const limit = timeLimit(timeoutInMilliseconds);
  const signal = AbortSignal.any([request.signal, limit.signal]);
  try {
    const response = await fetch(new Request(request.clone(), { headers, signal, redirect: 'manual' }));
    if (response.type === 'opaqueredirect' || isRedirect(response.status)) {
      return { problem: redirected(response, name), askedPauseInMilliseconds: 0 };
    }
    limit.extendBy((Number(response.headers.get('content-length')) / slowestInBytesPerSecond) * 1_000);
    if (!response.ok && response.status !== 304) {
      const askedPauseInMilliseconds = pauseIn(response.headers.get('retry-after'));
      return { problem: await problemOf(response, name), askedPauseInMilliseconds };
    }
    return await whole(response, name);
  } catch (error) {
    request.signal.throwIfAborted();
    const detail = `No answer from ${new URL(request.url).origin}: ${causeOf(error)}`;
    const problem = new ServiceProblem({ status: 0, code: 'unreachable', detail, request: name }, error);
    return { problem, askedPauseInMilliseconds: 0 };
  }
}

/** RFC 6750, section 2.1. */
const bearerToken = /^[A-Za-z0-9._~+/-]+=*$/;

const notAToken = { status: 401, code: 'unauthenticated', detail: 'The token has characters that no token has.' } as const;

const isRedirect = (status: number) => status >= 300 && status < 400 && status !== 304;

/** Token and body go to the server that the caller has named, and to no other. */
function redirected({ status }: Response, request: string): ServiceProblem {
  const detail = 'The server redirects to another address. Neither the token nor the request goes there.';
  return new ServiceProblem({ status: status || 307, code: 'unexpected', detail, request }); // browsers hide the status
}

/** A connection may break in the middle of a body. A body that is not JSON is not the service's. */
async function whole(response: Response, name: string): Promise<Outcome> {
  if ([204, 304].includes(response.status)) return { response };
  const text = await response.text();
  const read = new Response(text, response);
  return isJson(text) ? { response: read } : { problem: await problemOf(read, name), askedPauseInMilliseconds: 0 };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Seconds or a date. 0 if there is none. */
function pauseIn(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const milliseconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0;
}

/** Makes an idempotency key: a random UUID, also in pages without https, which lack `crypto.randomUUID`. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface TimeLimit {
  /** Aborts when the time is over. */
  signal: AbortSignal;
  extendBy: (milliseconds: number) => void;
}

function timeLimit(milliseconds: number): TimeLimit {
  const ending = new AbortController();
  let endsAt = performance.now() + milliseconds;
  const wait = (rest: number) => {
    const timeout = AbortSignal.timeout(rest);
    const check = () => {
      const left = Math.ceil(endsAt - performance.now());
      if (left > 0) wait(left);
      else ending.abort(timeout.reason);
    };
    timeout.addEventListener('abort', check, { once: true });
  };
  wait(milliseconds);
  return {
    signal: ending.signal,
    extendBy: (more) => {
      endsAt += more;
    },
  };
}
