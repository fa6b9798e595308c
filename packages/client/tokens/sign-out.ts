import { type IssuerOptions, openIssuer } from './issuer.ts';
import type { TokenSet } from './token-set.ts';

export interface SignOutOptions extends IssuerOptions {
  /** Where the issuer sends the browser afterwards. The issuer must know it. */
  returnTo: string;
}

/**
 * Returns the issuer's page that ends its session with the user (OpenID Connect RP-initiated logout). Undefined if it has none.
 * @throws ServiceProblem; the signal's reason
 */
export async function signOutPage(
  given: SignOutOptions,
  { id_token }: Pick<TokenSet, 'id_token'>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { end_session_endpoint } = (await openIssuer(given, signal)).server;
  if (end_session_endpoint === undefined) return undefined;
  const url = new URL(end_session_endpoint);
  url.searchParams.set('client_id', given.clientId);
  url.searchParams.set('post_logout_redirect_uri', given.returnTo);
  url.searchParams.set('logout_uri', given.returnTo); // Cognito's name for it
  if (id_token !== undefined) url.searchParams.set('id_token_hint', id_token);
  return url.href;
}
