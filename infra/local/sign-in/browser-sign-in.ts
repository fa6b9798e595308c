import { AssertionError } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MutableRedirectUri, MutableResponse, MutableToken, OAuth2Service } from 'oauth2-mock-server';
import * as v from 'valibot';
import { membership } from './membership.ts';

/** Where the issuer is on the service's own origin, so that a browser needs to reach one port only. */
export const issuerPath = '/local/issuer';

/** Who a browser signed in as. */
const identity = v.object({
  sub: v.pipe(v.string(), v.nonEmpty('Expected a user name.')),
  group: v.pipe(
    v.optional(v.union([v.string(), v.array(v.string())]), []),
    v.transform((one) => [one].flat()),
    v.array(membership),
  ),
});
type Identity = v.InferOutput<typeof identity>;

export interface BrowserSignInOptions {
  service: OAuth2Service;
  clientId: string;
  /** The claims of an access token, as those of a Cognito user pool. */
  claimsOf: (user: { sub: string; groups: string[] }) => Record<string, unknown>;
}

/** The query or the form that the server has read. */
type Read = IncomingMessage & { query?: Record<string, unknown>; body?: Record<string, unknown> };

/**
 * Makes the issuer sign in browsers by the authorization code flow with PKCE, as the user and with the memberships that the sign-in
 * page sends. Codes go only to the console of the same origin, so no other page gets a token.
 * @returns handles a request below `issuerPath` that reached the service under `origin`
 */
export function browserSignIn({ service, clientId, claimsOf }: BrowserSignInOptions) {
  const origins = new WeakMap<IncomingMessage, string>();
  const codes = new Map<unknown, Identity>();
  const refreshTokens = new Map<unknown, Identity>();
  const identityFor = ({ body = {} }: Read) => codes.get(body['code']) ?? refreshTokens.get(body['refresh_token']);

  service.on('beforeWellKnownOpenIdConfiguration', (answer: MutableResponse, request: IncomingMessage) => {
    const origin = origins.get(request);
    if (origin === undefined) return;
    const issuer = `${origin}${issuerPath}`;
    answer.body = {
      issuer,
      authorization_endpoint: `${issuer}/sign-in`,
      token_endpoint: `${issuer}/token`,
      end_session_endpoint: `${issuer}/endsession`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      id_token_signing_alg_values_supported: ['RS256'],
      subject_types_supported: ['public'],
    };
  });

  service.on('beforeAuthorizeRedirect', ({ url }: MutableRedirectUri, request: Read) => {
    const origin = origins.get(request);
    if (origin === undefined) return;
    const { query = {} } = request;
    if (query['client_id'] !== clientId) refuse(`Expected client_id ${clientId}.`);
    if (query['redirect_uri'] !== `${origin}/console/`) refuse('redirect_uri is not that of the console.');
    if (query['code_challenge_method'] !== 'S256') refuse('Expected a code_challenge of the method S256.');
    const parsed = v.safeParse(identity, query);
    if (!parsed.success) refuse(parsed.issues.map(({ message }) => message).join(' '));
    else codes.set(url.searchParams.get('code'), parsed.output);
  });

  service.on('beforeTokenSigning', ({ payload }: MutableToken, request: Read) => {
    const origin = origins.get(request);
    const found = origin === undefined ? undefined : identityFor(request);
    if (!found) return;
    const { body = {} } = request;
    // The server checks the verifier only if there is one.
    if (body['grant_type'] === 'authorization_code' && body['code_verifier'] === undefined) refuse('Expected a code_verifier.');
    const claims = claimsOf({ sub: found.sub, groups: found.group });
    const isAccessToken = payload['scope'] !== undefined;
    if (isAccessToken) Object.assign(payload, claims);
    else Object.assign(payload, claims, { token_use: 'id', iss: `${origin}${issuerPath}` });
  });

  service.on('beforeResponse', (answer: MutableResponse, request: Read) => {
    if (!origins.has(request)) return;
    const found = identityFor(request);
    if (!found) {
      Object.assign(answer, { statusCode: 400, body: { error: 'invalid_grant' } });
      return;
    }
    codes.delete(request.body?.['code']);
    const refresh_token = request.body?.['refresh_token'] ?? randomUUID();
    refreshTokens.set(refresh_token, found);
    Object.assign(answer.body as Record<string, unknown>, { refresh_token });
  });

  service.on('beforePostLogoutRedirect', ({ url }: MutableRedirectUri, request: IncomingMessage) => {
    if (url.origin !== origins.get(request)) refuse('post_logout_redirect_uri is not of this service.');
  });

  return async (request: IncomingMessage, response: ServerResponse, origin: string): Promise<void> => {
    const { url = '' } = request;
    origins.set(request, origin);
    request.url = url.slice(issuerPath.length);
    const answered = once(response, 'close');
    service.requestHandler(request, response);
    await answered;
    request.url = url;
  };
}

/** The server answers 400 with the message of an AssertionError, and 500 to any other error. */
function refuse(message: string): never {
  throw new AssertionError({ message });
}
