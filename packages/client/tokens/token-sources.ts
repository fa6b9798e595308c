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

interface Expiring {
  access_token: string;
  /** Unix seconds. */
  expires_at: number;
}

const reserveInSeconds = 30;

/** Keeps a token until shortly before it expires, or until it is refused. @param renew gets the token that it replaces */
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

/** Returns the tokens of a program that signs in as itself (OAuth 2.0 client credentials), for `createClient`. */
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

/** @throws ServiceProblem `unauthenticated` if the user must sign in again */
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

/** @param onRefreshed gets new tokens, to keep them: the refresh token may change */
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
  /** The address of the service, such as `http://localhost:3000`. */
  baseUrl: string;
  /** The name of the user, such as `alice`. */
  sub: string;
  /** The memberships, each `<domainID>:<role>`. */
  groups: string[];
  /** Default: 12 hours. */
  expiresInSeconds?: number | undefined;
  signal?: AbortSignal | undefined;
}

const timeoutInMilliseconds = 30_000;

/** `npm start` gives tokens to every program on its machine. @throws ServiceProblem; the signal's reason */
export async function issueLocalToken(options: LocalTokenOptions): Promise<string> {
  const { sub, groups, expiresInSeconds: expires_in, signal } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const request = 'POST /local/token';
  const headers = { 'content-type': 'application/json' };
  const ending = AbortSignal.any([AbortSignal.timeout(timeoutInMilliseconds), ...(signal ? [signal] : [])]);
  const body = JSON.stringify({ sub, groups, expires_in });
  const init: RequestInit = { method: 'POST', headers, body, signal: ending, redirect: 'error' };
  const response = await fetch(`${serverAddress(baseUrl).href.replace(/\/$/, '')}/local/token`, init).catch((cause: unknown) => {
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

/** Returns tokens of the service of `npm start`, for `createClient`. */
export function localToken(options: LocalTokenOptions): TokenSource {
  const lifetime = options.expiresInSeconds ?? 12 * 60 * 60;
  return keptToken(async () => ({
    access_token: await issueLocalToken(options),
    expires_at: Math.floor(Date.now() / 1_000) + lifetime,
  }));
}
