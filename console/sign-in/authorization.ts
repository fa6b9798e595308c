import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type AuthorizationServer,
  calculatePKCECodeChallenge,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import type { Configuration } from './configuration.ts';
import { hasTexts, stored } from './stored.ts';
import type { Tokens } from './tokens.ts';

/** What an answer of the issuer is checked against, and where the user was when the console asked. */
const pending = stored('sign-in', (content) =>
  hasTexts(content, ['verifier', 'state', 'nonce', 'returnTo']) ? content : undefined,
);

/** The authorization code flow with PKCE (RFC 7636), as a public client. */
export interface Authorization {
  /** Leaves for the issuer's sign-in page. The user comes back to `returnTo`, a path with query and fragment. */
  begin: (returnTo: string) => Promise<void>;
  /** Whether this tab waits for an answer of the issuer. */
  isPending: () => boolean;
  /** @throws Error if the issuer refused, or if the answer is not to a question of this tab */
  complete: (answer: URL) => Promise<{ tokens: Tokens; returnTo: string }>;
  /** @returns undefined if the issuer no longer accepts the refresh token */
  refresh: (tokens: Tokens) => Promise<Tokens | undefined>;
  /** The issuer's page that ends its session, if it has one. The user comes back to `returnTo`. */
  endOfSession: (tokens: Tokens, returnTo: string) => string | undefined;
}

/** @throws Error if the issuer does not answer */
export async function openAuthorization(configuration: Configuration): Promise<Authorization> {
  const { issuer, clientId, scopes } = configuration;
  const redirectUri = new URL('/console/', location.origin).href;
  const client = { client_id: clientId };
  // oauth4webapi demands https. Only an issuer on this machine may do without.
  const options = { [allowInsecureRequests]: new URL(issuer).hostname === location.hostname && location.protocol === 'http:' };
  const server = await discover(issuer, options);

  return {
    begin: async (returnTo) => {
      const verifier = generateRandomCodeVerifier();
      const question = { verifier, state: generateRandomState(), nonce: generateRandomNonce(), returnTo };
      pending.write(question);
      const url = new URL(endpoint(server, 'authorization_endpoint'));
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes,
        state: question.state,
        nonce: question.nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      location.replace(url); // so that Back does not lead to an address that only signs in again
    },
    isPending: () => pending.read() !== undefined,
    complete: async (answer) => {
      const question = pending.read();
      pending.remove();
      if (!question) throw new Error('This answer of the issuer is not to a question of this tab.');
      const parameters = validateAuthResponse(server, client, answer, question.state);
      const response = await authorizationCodeGrantRequest(
        server,
        client,
        None(),
        parameters,
        redirectUri,
        question.verifier,
        options,
      );
      const result = await processAuthorizationCodeResponse(server, client, response, { expectedNonce: question.nonce });
      return { tokens: tokensOf(result), returnTo: question.returnTo };
    },
    refresh: async (tokens) => {
      if (tokens.refresh === undefined) return undefined;
      try {
        const response = await refreshTokenGrantRequest(server, client, None(), tokens.refresh, options);
        return { ...tokens, ...tokensOf(await processRefreshTokenResponse(server, client, response)) };
      } catch {
        return undefined;
      }
    },
    endOfSession: (tokens, returnTo) => {
      if (server.end_session_endpoint === undefined) return undefined;
      const url = new URL(server.end_session_endpoint);
      const back = new URL(returnTo, location.origin).href;
      url.searchParams.set('client_id', clientId);
      url.searchParams.set('post_logout_redirect_uri', back);
      url.searchParams.set('logout_uri', back); // Cognito's name for it
      if (tokens.id !== undefined) url.searchParams.set('id_token_hint', tokens.id);
      return url.href;
    },
  };
}

async function discover(issuer: string, options: Parameters<typeof discoveryRequest>[1]): Promise<AuthorizationServer> {
  const identifier = new URL(issuer);
  return await processDiscoveryResponse(identifier, await discoveryRequest(identifier, options));
}

function endpoint(server: AuthorizationServer, name: 'authorization_endpoint'): string {
  const url = server[name];
  if (url === undefined) throw new Error(`The issuer ${server.issuer} names no ${name}.`);
  return url;
}

const lifetimeInSecondsIfUnnamed = 300;

function tokensOf(response: TokenEndpointResponse): Tokens {
  const { access_token, expires_in = lifetimeInSecondsIfUnnamed, refresh_token, id_token } = response;
  return {
    access: access_token,
    expiresAt: Date.now() + expires_in * 1_000,
    ...(refresh_token === undefined ? {} : { refresh: refresh_token }),
    ...(id_token === undefined ? {} : { id: id_token }),
  };
}
