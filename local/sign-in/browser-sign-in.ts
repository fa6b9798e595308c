import { AssertionError } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { MutableRedirectUri, MutableResponse, MutableToken, OAuth2Service } from 'oauth2-mock-server';
import * as v from 'valibot';
import { readBody } from '../http-api/http-messages.ts';
import { deviceRequests, sendJson, deviceSignIns, type NotYet } from './device-sign-ins.ts';
import { identity, type Identity } from './identity.ts';

/** Where the issuer is on the service's own origin, so that a browser needs to reach one port only. */
export const issuerPath = '/local/issuer';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

const reasons: Record<NotYet, string> = {
  authorization_pending: 'The user has not decided yet.',
  access_denied: 'The user refused.',
  expired_token: 'The code has expired.',
};

export interface BrowserSignInOptions {
  service: OAuth2Service;
  clientId: string;
  /** The claims of an access token, as those of a Cognito user pool. */
  claimsOf: (user: { sub: string; groups: string[] }) => Record<string, unknown>;
}

/** The query or the form that the server has read. */
type Read = IncomingMessage & { query?: Record<string, unknown>; body?: Record<string, unknown> };

/**
 * Makes the issuer sign in users by the authorization code flow with PKCE and by device, as the user and with the memberships that the
 * sign-in page sends. Codes go only to the console of the same origin and to programs on this machine, so no other page gets a token.
 * @returns handles a request below `issuerPath` that reached the service under `origin`
 */
export function browserSignIn({ service, clientId, claimsOf }: BrowserSignInOptions) {
  const origins = new WeakMap<IncomingMessage, string>();
  const codes = new Map<unknown, Identity>();
  const refreshTokens = new Map<unknown, Identity>();
  const codesOfDevices = new Set<unknown>();
  const devices = deviceSignIns();
  const answerDevice = deviceRequests({ devices, clientId });
  const identityFor = ({ body = {} }: Read) => codes.get(body['code']) ?? refreshTokens.get(body['refresh_token']);

  service.on('beforeWellKnownOpenIdConfiguration', (answer: MutableResponse, request: IncomingMessage) => {
    const origin = origins.get(request);
    if (origin === undefined) return;
    const issuer = `${origin}${issuerPath}`;
    answer.body = {
      issuer,
      authorization_endpoint: `${issuer}/sign-in`,
      token_endpoint: `${issuer}/token`,
      device_authorization_endpoint: `${issuer}/device_authorization`,
      end_session_endpoint: `${issuer}/endsession`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token', deviceGrant],
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
    if (query['redirect_uri'] !== `${origin}/console/` && !isLoopback(query['redirect_uri'])) {
      refuse('redirect_uri is neither that of the console nor http://127.0.0.1:<port>/callback.');
    }
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
    const needsVerifier = body['grant_type'] === 'authorization_code' && !codesOfDevices.has(body['code']);
    if (needsVerifier && body['code_verifier'] === undefined) refuse('Expected a code_verifier.');
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
    codesOfDevices.delete(request.body?.['code']);
    const refresh_token = request.body?.['refresh_token'] ?? randomUUID();
    refreshTokens.set(refresh_token, found);
    Object.assign(answer.body as Record<string, unknown>, { refresh_token });
  });

  service.on('beforePostLogoutRedirect', ({ url }: MutableRedirectUri, request: IncomingMessage) => {
    if (url.origin !== origins.get(request)) refuse('post_logout_redirect_uri is not of this service.');
  });

  /** The grant of a device becomes that of a code, which the server knows. @returns undefined if the request was answered */
  const knownGrant = (text: string, response: ServerResponse): string | undefined => {
    const form = new URLSearchParams(text);
    if (form.get('grant_type') !== deviceGrant) return text;
    const user = devices.take(form.get('device_code') ?? '');
    if (typeof user === 'string') {
      sendJson(response, 400, { error: user, error_description: reasons[user] });
      return undefined;
    }
    const code = randomUUID();
    codes.set(code, user);
    codesOfDevices.add(code);
    return String(new URLSearchParams({ grant_type: 'authorization_code', code, client_id: form.get('client_id') ?? '' }));
  };

  return async (request: IncomingMessage, response: ServerResponse, origin: string): Promise<void> => {
    const { method, headers, url = '' } = request;
    const path = url.slice(issuerPath.length);
    if (await answerDevice(request, response, `${origin}${issuerPath}`, path)) return;
    const text = (await readBody(request, 64 * 1024))?.toString() ?? '';
    const body = path === '/token' ? knownGrant(text, response) : text;
    if (body === undefined) return;
    // What the server reads of a request.
    const parts = { method, headers, url: path };
    const passed = Object.assign(Readable.from([Buffer.from(body)]), parts) as unknown as IncomingMessage;
    origins.set(passed, origin);
    const answered = once(response, 'close');
    service.requestHandler(passed, response);
    await answered;
  };
}

/** Whether it is the listener of a program on this machine, such as the command line (RFC 8252, section 7.3). */
function isLoopback(redirectUri: unknown): boolean {
  return typeof redirectUri === 'string' && /^http:\/\/127\.0\.0\.1:\d{1,5}\/callback$/.test(redirectUri);
}

/** The server answers 400 with the message of an AssertionError, and 500 to any other error. */
function refuse(message: string): never {
  throw new AssertionError({ message });
}
