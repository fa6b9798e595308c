import {
  allowInsecureRequests,
  AuthorizationResponseError,
  type AuthorizationServer,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discoveryRequest,
  None,
  OperationProcessingError,
  processDiscoveryResponse,
  ResponseBodyError,
  type TokenEndpointResponse,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { causeOf, ServiceProblem } from '../calls/service-problem.ts';
import { AddressError, isLoopback, serverAddress } from '../calls/web-address.ts';

/** An issuer of tokens (OpenID Connect), and the application that signs in there. */
export interface IssuerOptions {
  /** The address of the issuer. Its configuration is below it, at `.well-known/openid-configuration`. */
  issuer: string;
  clientId: string;
  /** The secret of the application at the issuer. Only for applications that can keep a secret: never in a web page. */
  clientSecret?: string | undefined;
  /** The scopes to ask for, separated by spaces. Default: `openid` for users, and no scope for client credentials. */
  scope?: string | undefined;
  /** Further parameters of the requests to the issuer, such as `audience` or `resource`. */
  parameters?: Record<string, string> | undefined;
  /** The function that sends requests to the issuer. Default: the global `fetch`. */
  fetch?: ((url: string, init?: RequestInit) => Promise<Response>) | undefined;
}

/**
 * The values that the functions of oauth4webapi need to call an issuer: its configuration, the application, and the options of
 * requests.
 */
export interface OpenIssuer {
  server: AuthorizationServer;
  client: Client;
  authentication: ClientAuth;
  options: {
    [allowInsecureRequests]: boolean;
    [customFetch]: (url: string, init: object) => Promise<Response>;
    signal: () => AbortSignal;
  };
}

const timeoutInMilliseconds = 30_000;

/**
 * Reads the configuration of an issuer, and returns the values that calls of the issuer need.
 * @throws ServiceProblem; AddressError if the issuer's address is without https; the signal's reason
 */
export async function openIssuer(given: IssuerOptions, signal?: AbortSignal): Promise<OpenIssuer> {
  const { issuer, clientId, clientSecret } = given;
  const url = serverAddress(issuer);
  const options = {
    // Only an issuer on the same machine may do without https.
    [allowInsecureRequests]: isLoopback(url),
    [customFetch]: async (address: string, init: object) =>
      await (given.fetch ?? fetch)(serverAddress(address).href, { ...init, redirect: 'manual' }),
    signal: () => AbortSignal.any([AbortSignal.timeout(timeoutInMilliseconds), ...(signal ? [signal] : [])]),
  };
  const server = await asProblem(`GET ${url.href}`, signal, async () =>
    processDiscoveryResponse(url, await discoveryRequest(url, options)),
  );
  return { server, client: { client_id: clientId }, authentication: authenticationOf(server, clientSecret), options };
}

function authenticationOf(server: AuthorizationServer, secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/**
 * Asks an issuer, and converts errors to problems: `unauthenticated` if the issuer refuses, `unreachable`, `too_many_requests` or
 * `unavailable` if the issuer may answer later, `unexpected` for other answers.
 * @throws ServiceProblem; the signal's reason
 */
export async function asProblem<Answer>(
  request: string,
  signal: AbortSignal | undefined,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    signal?.throwIfAborted();
    const problem = await problemOf(error, request);
    signal?.throwIfAborted(); // it may have read the rest of an answer
    throw problem;
  }
}

async function problemOf(error: unknown, request: string): Promise<unknown> {
  if (error instanceof AuthorizationResponseError) return refusal(401, error.error_description ?? error.error, request, error);
  if (error instanceof ResponseBodyError) return refusal(error.status, error.error_description ?? error.error, request, error);
  if (error instanceof WWWAuthenticateChallengeError) return refusal(error.status, await reasonOf(error), request, error);
  if (error instanceof OperationProcessingError) {
    const status = error.cause instanceof Response ? error.cause.status : 200;
    const detail = `The issuer's answer is not as expected: ${wrongPart(error)}`;
    return new ServiceProblem({ status, code: passingCode(status) ?? 'unexpected', detail, request }, error);
  }
  if (error instanceof AddressError)
    return new ServiceProblem({ status: 200, code: 'unexpected', detail: unsafe, request }, error);
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  if (!(error instanceof TypeError) && !isTimeout) return error;
  const detail = `No answer from the issuer: ${causeOf(error)}`;
  return new ServiceProblem({ status: 0, code: 'unreachable', detail, request }, error);
}

/** Says what is wrong in an answer of an issuer: with both values where two should agree, and with the clocks where times should. */
function wrongPart({ code, cause, message }: OperationProcessingError): string {
  const { expected, body } = (cause ?? {}) as { expected?: unknown; body?: { issuer?: unknown } };
  if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') {
    return `it names the issuer ${JSON.stringify(body?.issuer)}, not ${JSON.stringify(expected)}.`;
  }
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED')
    return `${message}. Compare the clock of this machine with that of the issuer.`;
  return message.replaceAll('"response" body ', 'the member ').replaceAll(' property', '');
}

const unsafe = "The issuer's configuration names an address without https. Nothing was sent there.";

function refusal(answered: number, reason: string, request: string, cause: Error): ServiceProblem {
  const code = passingCode(answered) ?? 'unauthenticated';
  const status = code === 'unauthenticated' ? 401 : answered;
  return new ServiceProblem({ status, code, detail: `The issuer refused: ${reason}`, request }, cause);
}

function passingCode(status: number): 'unavailable' | 'too_many_requests' | undefined {
  if (status === 429) return 'too_many_requests';
  return status >= 500 ? 'unavailable' : undefined;
}

/**
 * Says why an issuer refused a request: by the description in its challenge or its body, else by the kind of authentication that
 * it asks for.
 */
async function reasonOf({ cause, response }: WWWAuthenticateChallengeError): Promise<string> {
  const [challenge] = cause;
  const { error, error_description } = challenge?.parameters ?? {};
  const body = (await response.json().catch(() => null)) as { error?: unknown; error_description?: unknown } | null;
  const said = [error_description, body?.error_description, error, body?.error].find((each) => typeof each === 'string');
  return typeof said === 'string' ? said : `It asks for authentication (${challenge?.scheme ?? 'of no kind'}).`;
}

/** The tokens that an issuer gave to a user or a program. */
export interface TokenSet {
  access_token: string;
  /** The time at which the access token expires, in seconds since 1970. */
  expires_at: number;
  refresh_token?: string;
  id_token?: string;
}

const lifetimeInSecondsIfUnnamed = 300;

export function tokenSetOf(response: TokenEndpointResponse): TokenSet {
  const { access_token, expires_in = lifetimeInSecondsIfUnnamed, refresh_token, id_token } = response;
  return {
    access_token,
    expires_at: Math.floor(Date.now() / 1_000) + expires_in,
    ...(refresh_token === undefined ? {} : { refresh_token }),
    ...(id_token === undefined ? {} : { id_token }),
  };
}

/** Returns the claims of a JWT without checking its signature. @returns undefined if the token is not a JWT */
export function readClaims(token: string): Record<string, unknown> | undefined {
  const [, payload = ''] = token.trim().split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined;
  } catch {
    return undefined;
  }
}
