import { processRefreshTokenResponse, refreshTokenGrantRequest } from 'oauth4webapi';
import type { TokenSource } from '../retrying-fetch.ts';
import { ServiceProblem } from '../service-problem.ts';
import { type IssuerOptions, openIssuer } from './issuer.ts';
import { keptToken } from './kept-token.ts';
import { asProblem } from './token-problem.ts';
import { type TokenSet, tokenSetOf } from './token-set.ts';

/**
 * Gets new tokens for a refresh token. What the issuer does not give anew stays.
 * @throws ServiceProblem `unauthenticated` if there is no refresh token, or the issuer refuses it: then the user signs in again
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
 * Returns the tokens of a user who has signed in, for `createClient`. They are refreshed before they expire.
 * @param onRefreshed gets the new tokens, to keep them. The refresh token may be another one.
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
