import {
  allowInsecureRequests,
  type AuthorizationServer,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discoveryRequest,
  None,
  processDiscoveryResponse,
} from 'oauth4webapi';
import { asProblem } from './token-problem.ts';

/** An OpenID Connect issuer, and the application that it knows. */
export interface IssuerOptions {
  /** The issuer's address, below which it has `.well-known/openid-configuration`. */
  issuer: string;
  clientId: string;
  /** Only for applications that can keep a secret: never in a web page. */
  clientSecret?: string | undefined;
  /** Separated by spaces. Default: `openid` for users, and none for client credentials. */
  scope?: string | undefined;
  /** More parameters for the issuer's endpoints, such as `audience` or `resource`. */
  parameters?: Record<string, string> | undefined;
  /** Default: the global `fetch`. */
  fetch?: ((url: string, init?: RequestInit) => Promise<Response>) | undefined;
}

/** What the functions of oauth4webapi take. */
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

/** Reads the issuer's configuration. @throws ServiceProblem; the signal's reason */
export async function openIssuer(given: IssuerOptions, signal?: AbortSignal): Promise<OpenIssuer> {
  const { issuer, clientId, clientSecret } = given;
  const url = new URL(issuer);
  const options = {
    // Only an issuer on the same machine may do without https.
    [allowInsecureRequests]: ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname),
    [customFetch]: (address: string, init: object) => (given.fetch ?? fetch)(address, init),
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
