import {
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import { type IssuerOptions, openIssuer } from './issuer.ts';
import { asProblem } from './token-problem.ts';
import { type TokenSet, tokenSetOf } from './token-set.ts';

export interface SignInOptions extends IssuerOptions {
  /** Where the issuer sends the browser afterwards. The issuer must know it. */
  redirectUri: string;
}

/** What `completeSignIn` needs. A web page keeps it in its session storage meanwhile. */
export interface PendingSignIn {
  /** The issuer's page, to which the browser goes. */
  url: string;
  verifier: string;
  state: string;
  nonce: string;
}

const defaultScope = 'openid';

/** Begins to sign a user in, by the authorization code flow with PKCE (RFC 7636). @throws ServiceProblem; the signal's reason */
export async function beginSignIn(given: SignInOptions, signal?: AbortSignal): Promise<PendingSignIn> {
  const { server } = await openIssuer(given, signal);
  const { authorization_endpoint } = server;
  if (authorization_endpoint === undefined)
    throw new TypeError(`The issuer ${given.issuer} has no authorization endpoint, so users cannot sign in there.`);
  const verifier = generateRandomCodeVerifier();
  const [state, nonce] = [generateRandomState(), generateRandomNonce()];
  const url = new URL(authorization_endpoint);
  const parameters = {
    ...given.parameters,
    response_type: 'code',
    client_id: given.clientId,
    redirect_uri: given.redirectUri,
    scope: given.scope ?? defaultScope,
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, verifier, state, nonce };
}

/**
 * Ends a sign-in.
 * @param answer the address at which the browser came back
 * @throws ServiceProblem if the issuer refused, or the answer does not belong to this sign-in; the signal's reason
 */
export async function completeSignIn(
  given: SignInOptions,
  { verifier, state, nonce }: Pick<PendingSignIn, 'verifier' | 'state' | 'nonce'>,
  answer: URL | string,
  signal?: AbortSignal,
): Promise<TokenSet> {
  const { server, client, authentication, options } = await openIssuer(given, signal);
  return await asProblem(`POST ${given.issuer}`, signal, async () => {
    const parameters = validateAuthResponse(server, client, new URL(answer), state);
    const response = await authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      parameters,
      given.redirectUri,
      verifier,
      options,
    );
    const hasIdToken = (given.scope ?? defaultScope).split(' ').includes('openid');
    const check = hasIdToken ? { expectedNonce: nonce, requireIdToken: true } : {};
    return tokenSetOf(await processAuthorizationCodeResponse(server, client, response, check));
  });
}
