import type { TokenSource } from '../retrying-fetch.ts';
import { ServiceProblem } from '../service-problem.ts';
import { keptToken } from './kept-token.ts';

export interface LocalTokenOptions {
  /** Where `npm start` listens, such as `http://localhost:3000`. */
  baseUrl: string;
  /** The identifier of the user, such as `alice`. */
  sub: string;
  /** The memberships, each `<domainID>:<role>`. */
  groups: string[];
  /** Default: 12 hours. */
  expiresInSeconds?: number | undefined;
  signal?: AbortSignal | undefined;
}

const timeoutInMilliseconds = 30_000;

/**
 * Asks the service of `npm start` for a token. It gives one to every program on its machine, and to no other.
 * @throws ServiceProblem; the signal's reason
 */
export async function issueLocalToken(options: LocalTokenOptions): Promise<string> {
  const { sub, groups, expiresInSeconds: expires_in, signal } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const request = 'POST /local/token';
  const headers = { 'content-type': 'application/json' };
  const ending = AbortSignal.any([AbortSignal.timeout(timeoutInMilliseconds), ...(signal ? [signal] : [])]);
  const init = { method: 'POST', headers, body: JSON.stringify({ sub, groups, expires_in }), signal: ending };
  const response = await fetch(`${baseUrl}/local/token`, init).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new ServiceProblem({ status: 0, code: 'unreachable', detail: `Nothing answers at ${baseUrl}.`, request }, cause);
  });
  const { access_token, message } = (await response.json().catch(() => ({}))) as { access_token?: string; message?: string };
  if (access_token !== undefined) return access_token;
  const { status } = response;
  if (status === 400 && message !== undefined) {
    throw new ServiceProblem({ status, code: 'invalid_request', detail: message, request });
  }
  throw new ServiceProblem({
    status,
    code: 'unexpected',
    detail: `${baseUrl} gives no tokens: it is not \`npm start\`.`,
    request,
  });
}

/** Returns the tokens of a user of `npm start`, for `createClient`. */
export function localToken(options: LocalTokenOptions): TokenSource {
  const lifetime = options.expiresInSeconds ?? 12 * 60 * 60;
  return keptToken(async () => ({
    access_token: await issueLocalToken(options),
    expires_at: Math.floor(Date.now() / 1_000) + lifetime,
  }));
}
