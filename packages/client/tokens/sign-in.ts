import {
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  processAuthorizationCodeResponse,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  ResponseBodyError,
  validateAuthResponse,
} from 'oauth4webapi';
import { pause } from '../calls/retry.ts';
import { ServiceProblem } from '../calls/service-problem.ts';
import { serverAddress } from '../calls/web-address.ts';
import { asProblem, type IssuerOptions, openIssuer, type OpenIssuer, type TokenSet, tokenSetOf } from './issuer.ts';

export interface SignInOptions extends IssuerOptions {
  /** The address to which the browser comes back after the sign-in. The issuer must allow it for the application. */
  redirectUri: string;
}

/** A sign-in that has begun, and that `completeSignIn` ends. Meanwhile, a web page keeps it in its session storage. */
export interface PendingSignIn {
  url: string;
  verifier: string;
  state: string;
  nonce: string;
}

const defaultScope = 'openid';

/**
 * Begins a sign-in by the authorization code flow with PKCE (RFC 7636). The browser then opens the returned `url`.
 * @throws ServiceProblem; the signal's reason
 */
export async function beginSignIn(given: SignInOptions, signal?: AbortSignal): Promise<PendingSignIn> {
  const { server } = await openIssuer(given, signal);
  const { authorization_endpoint } = server;
  if (authorization_endpoint === undefined)
    throw new TypeError(`The issuer ${given.issuer} has no authorization endpoint, so users cannot sign in there.`);
  const verifier = generateRandomCodeVerifier();
  const [state, nonce] = [generateRandomState(), generateRandomNonce()];
  const url = serverAddress(authorization_endpoint); // a browser opens it
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
 * Ends a sign-in when the browser has come back, and returns the tokens.
 * @param answer the address to which the browser came back, with its query
 * @throws ServiceProblem if the issuer refuses; the signal's reason
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

export interface DeviceCode {
  user_code: string;
  verification_uri: string;
  /** The address of the page for the code, with the code filled in. */
  verification_uri_complete?: string | undefined;
  /** The seconds from now until the code expires. */
  expires_in: number;
}

export interface DeviceSignInOptions extends IssuerOptions {
  show: (code: DeviceCode) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Signs a user in with a code that the user types in a browser, perhaps of another device (RFC 8628).
 * @throws ServiceProblem if the issuer or the user refuses, or the code expires; the signal's reason
 */
export async function deviceSignIn(given: DeviceSignInOptions): Promise<TokenSet> {
  const { signal, scope = 'openid' } = given;
  const request = `POST ${given.issuer}`;
  const issuer = await openIssuer(given, signal);
  const { server, client, authentication, options } = issuer;
  if (server.device_authorization_endpoint === undefined) {
    const detail = `The issuer ${given.issuer} does not support sign-in with a code. Sign in with a browser.`;
    throw new ServiceProblem({ status: 0, code: 'unexpected', detail, request });
  }
  const code = await asProblem(request, signal, async () => {
    const parameters = { ...given.parameters, scope };
    const response = await deviceAuthorizationRequest(server, client, authentication, parameters, options);
    return await processDeviceAuthorizationResponse(server, client, response);
  });
  const { user_code, verification_uri, verification_uri_complete, expires_in, interval = 5 } = code;
  given.show({ user_code, verification_uri, verification_uri_complete, expires_in });
  const endsAt = performance.now() + expires_in * 1_000;
  for (let pauseInSeconds = interval; performance.now() < endsAt;) {
    await pause(pauseInSeconds * 1_000, signal);
    const tokens = await asProblem(request, signal, () => askOnce(issuer, code.device_code)).catch(pendingWhileAway);
    if (tokens === 'slow_down') pauseInSeconds += 5;
    else if (tokens !== 'authorization_pending') return tokens;
  }
  throw new ServiceProblem({ status: 401, code: 'unauthenticated', detail: 'The code has expired.', request });
}

/**
 * Treats an issuer that does not answer as one whose user has not typed the code yet: it may answer the next time.
 * @throws any other error
 */
function pendingWhileAway(error: unknown): 'authorization_pending' {
  const isAway = error instanceof ServiceProblem && ['unreachable', 'unavailable', 'too_many_requests'].includes(error.code);
  if (isAway) return 'authorization_pending';
  throw error;
}

/** Asks an issuer once for the tokens of a device sign-in. @returns the tokens, or why there are none yet */
async function askOnce(
  { server, client, authentication, options }: OpenIssuer,
  code: string,
): Promise<TokenSet | 'authorization_pending' | 'slow_down'> {
  try {
    const response = await deviceCodeGrantRequest(server, client, authentication, code, options);
    return tokenSetOf(await processDeviceCodeResponse(server, client, response));
  } catch (error) {
    if (error instanceof ResponseBodyError && (error.error === 'authorization_pending' || error.error === 'slow_down')) {
      return error.error;
    }
    throw error;
  }
}

export interface SignOutOptions extends IssuerOptions {
  returnTo: string;
}

/**
 * Returns the address of the page at which a user signs out of the issuer (OpenID Connect RP-initiated logout), and which leads
 * back to `returnTo`. Undefined if the issuer has no such page.
 * @throws ServiceProblem; the signal's reason
 */
export async function signOutPage(
  given: SignOutOptions,
  { id_token }: Pick<TokenSet, 'id_token'>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { end_session_endpoint } = (await openIssuer(given, signal)).server;
  if (end_session_endpoint === undefined) return undefined;
  const url = serverAddress(end_session_endpoint);
  url.searchParams.set('client_id', given.clientId);
  url.searchParams.set('post_logout_redirect_uri', given.returnTo);
  url.searchParams.set('logout_uri', given.returnTo); // Cognito's name for it
  if (id_token !== undefined) url.searchParams.set('id_token_hint', id_token);
  return url.href;
}
