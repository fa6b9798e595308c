import {
  clientCredentialsGrantRequest,
  processClientCredentialsResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
} from 'oauth4webapi';
import type { TokenSource } from '../calls/retrying-fetch.ts';
import { ServiceProblem } from '../calls/service-problem.ts';
import { serverAddress } from '../calls/web-address.ts';
import { asProblem, type IssuerOptions, openIssuer, type TokenSet, tokenSetOf } from './issuer.ts';

type Expiring = Pick<TokenSet, 'access_token' | 'expires_at'>;

const reserveInSeconds = 30;

/**
 * Returns a token source that keeps a token until 30 seconds before it expires, or until the service refuses it.
 * @param renew makes a new token, and gets the token that the new one replaces
 */
export function keptToken<Kept extends Expiring>(
  renew: (previous: Kept | undefined) => Promise<Kept>,
  first?: Kept,
): TokenSource {
  let kept = first;
  let renewing: Promise<Kept> | undefined;
  return async ({ refused }) => {
    const isFresh = kept && kept.expires_at - reserveInSeconds > Date.now() / 1_000 && kept.access_token !== refused;
    if (kept && isFresh) return kept.access_token;
    renewing ??= renew(kept).finally(() => (renewing = undefined));
    kept = await renewing;
    return kept.access_token;
  };
}

/** Returns a token source for a program that signs in as itself (OAuth 2.0 client credentials), for `createClient`. */
export function clientCredentials(given: IssuerOptions & { clientSecret: string }): TokenSource {
  const parameters = { ...given.parameters, ...(given.scope === undefined ? {} : { scope: given.scope }) };
  return keptToken(async () => {
    const { server, client, authentication, options } = await openIssuer(given);
    return await asProblem(`POST ${given.issuer}`, undefined, async () => {
      const response = await clientCredentialsGrantRequest(server, client, authentication, parameters, options);
      return tokenSetOf(await processClientCredentialsResponse(server, client, response));
    });
  });
}

/**
 * Gets new tokens from an issuer by the refresh token of earlier ones.
 * @throws ServiceProblem, `unauthenticated` if the user must sign in again
 */
export async function refreshTokens(given: IssuerOptions, tokens: TokenSet, signal?: AbortSignal): Promise<TokenSet> {
  const request = `POST ${given.issuer}`;
  const { refresh_token } = tokens;
  if (refresh_token === undefined) {
    throw new ServiceProblem({ status: 401, code: 'unauthenticated', detail: 'The token has expired. Sign in again.', request });
  }
  const { server, client, authentication, options } = await openIssuer(given, signal);
  return await asProblem(request, signal, async () => {
    const response = await refreshTokenGrantRequest(server, client, authentication, refresh_token, {
      ...options,
      additionalParameters: given.parameters ?? {},
    });
    return { ...tokens, ...tokenSetOf(await processRefreshTokenResponse(server, client, response)) };
  });
}

/**
 * Returns a token source for a user who has signed in, which refreshes the tokens when they expire, for `createClient`.
 * @param onRefreshed gets each new set of tokens, to keep it: the refresh token may change
 */
export function signedIn(
  given: IssuerOptions,
  tokens: TokenSet,
  onRefreshed: (tokens: TokenSet) => void | Promise<void> = () => undefined,
): TokenSource {
  return keptToken<TokenSet>(async (previous = tokens) => {
    const refreshed = await refreshTokens(given, previous);
    await onRefreshed(refreshed);
    return refreshed;
  }, tokens);
}

export interface LocalTokenOptions {
  /** The address of a service that `npm start` runs, such as `http://localhost:3000`. */
  baseUrl: string;
  /** The name of the user for whom the token is, such as `alice`. */
  sub: string;
  /** The memberships of the user, each `<domainID>:<role>`. */
  groups: string[];
  /** The address of mail that the token calls verified. Default: none. */
  email?: string | undefined;
  /** The lifetime of the token in seconds. Default: 12 hours. */
  expiresInSeconds?: number | undefined;
  signal?: AbortSignal | undefined;
}

const timeoutInMilliseconds = 30_000;

/**
 * Gets a token for any user from a service that `npm start` runs, which gives tokens to every program on its machine.
 * @throws ServiceProblem; the signal's reason
 */
export async function issueLocalToken(options: LocalTokenOptions): Promise<string> {
  const { sub, groups, email, expiresInSeconds: expires_in, signal } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const request = 'POST /local/token';
  const headers = { 'content-type': 'application/json' };
  const ending = AbortSignal.any([AbortSignal.timeout(timeoutInMilliseconds), ...(signal ? [signal] : [])]);
  const body = JSON.stringify({ sub, groups, email, expires_in });
  const init: RequestInit = { method: 'POST', headers, body, signal: ending, redirect: 'error' };
  const response = await fetch(`${serverAddress(baseUrl).href.replace(/\/$/, '')}/local/token`, init).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new ServiceProblem({ status: 0, code: 'unreachable', detail: `Nothing answers at ${baseUrl}.`, request }, cause);
  });
  const { access_token, message } = (await response.json().catch(() => ({}))) as { access_token?: string; message?: string };
  if (access_token !== undefined) return access_token;
  const { status } = response;
  if (status === 400 && message !== undefined)
    throw new ServiceProblem({ status, code: 'invalid_request', detail: message, request });
  const detail = `${baseUrl} gives no tokens: it is not \`npm start\`.`;
  throw new ServiceProblem({ status, code: 'unexpected', detail, request });
}

/** Returns a token source for a service that `npm start` runs, for `createClient`. */
export function localToken(options: LocalTokenOptions): TokenSource {
  const lifetime = options.expiresInSeconds ?? 12 * 60 * 60;
  return keptToken(async () => ({
    access_token: await issueLocalToken(options),
    expires_at: Math.floor(Date.now() / 1_000) + lifetime,
  }));
}
