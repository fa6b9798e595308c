import { createHash, randomInt, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { apiGatewayMessage, jsonAnswer, type ApiResponse } from '../http-api/http-messages.ts';
import { identity, type Identity, type LocalIssuer } from './issuer.ts';

/** An HTTP request to the authorization server of this machine. */
export interface SignInRequest {
  /** The method and the path below the issuer's address, such as `POST /token`. */
  route: string;
  query: URLSearchParams;
  body: string;
  /** The origin under which the browser or program reached the service. */
  origin: string;
  /** The address of the issuer at the origin under which the service was reached. */
  issuer: string;
}

/** A user who signed in, and the values that a token request with the authorization code must match. */
interface Code {
  user: Identity;
  /** The SHA-256 of the code verifier of PKCE, base64url. */
  challenge: string;
  nonce: string | null;
}

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const lifetimeInSeconds = 60 * 60;

/** Matches the redirect address of a program on this machine, such as the command line (RFC 8252, section 7.3). */
const loopbackCallback = /^http:\/\/127\.0\.0\.1:\d{1,5}\/callback$/;

const decision = v.intersect([v.object({ user_code: v.string() }), v.union([identity, v.object({ refused: v.literal(true) })])]);

/**
 * Returns a handler that signs in users by the authorization code flow with PKCE and by the device flow. A token gets the user
 * and the memberships that the sign-in page sends. Codes go only to the console of the same origin and to programs on this
 * machine, so no other page gets a token.
 */
export function authorizationServer({ audience: clientId, publicKeys, mintToken, mintIdToken }: LocalIssuer) {
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, Identity>();
  const devices = deviceSignIns();

  const authorize = ({ query, origin }: SignInRequest): ApiResponse => {
    const redirectUri = query.get('redirect_uri') ?? '';
    const challenge = query.get('code_challenge') ?? '';
    if (query.get('client_id') !== clientId) return refusal(`Expected client_id ${clientId}.`);
    if (redirectUri !== `${origin}/console/` && !loopbackCallback.test(redirectUri)) {
      return refusal('redirect_uri is neither that of the console nor http://127.0.0.1:<port>/callback.');
    }
    if (query.get('response_type') !== 'code') return refusal('Expected the response_type code.');
    if (challenge === '' || query.get('code_challenge_method') !== 'S256') {
      return refusal('Expected a code_challenge of the method S256.');
    }
    const parsed = v.safeParse(identity, { sub: query.get('sub') ?? '', group: query.getAll('group') });
    if (!parsed.success) return refusal(messagesOf(parsed.issues));
    const code = randomUUID();
    codes.set(code, { user: parsed.output, challenge, nonce: query.get('nonce') });
    return redirect(redirectUri, { code, state: query.get('state') });
  };

  /**
   * Finds the user of a token request by its code or refresh token. Returns an answer with an error instead if the request has no
   * right to a token.
   */
  const grantOf = (form: URLSearchParams): { user: Identity; nonce: string | null } | ApiResponse => {
    const none = (error: string, description: string) => oauthError(400, error, description);
    switch (form.get('grant_type')) {
      case 'authorization_code': {
        const code = codes.get(form.get('code') ?? '');
        codes.delete(form.get('code') ?? '');
        const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
        const fits = verifier.digest('base64url') === code?.challenge;
        return code && fits ? code : none('invalid_grant', 'The code is unknown, or its code_verifier is another one.');
      }
      case 'refresh_token': {
        const user = refreshTokens.get(form.get('refresh_token') ?? '');
        return user ? { user, nonce: null } : none('invalid_grant', 'The refresh token is unknown.');
      }
      case deviceGrant: {
        const user = devices.take(form.get('device_code') ?? '');
        return typeof user === 'string' ? none(user, notYet[user]) : { user, nonce: null };
      }
      default:
        return none('unsupported_grant_type', 'Expected a code, a refresh token or the code of a device.');
    }
  };

  const token = async ({ body, issuer }: SignInRequest): Promise<ApiResponse> => {
    const form = new URLSearchParams(body);
    if (form.get('client_id') !== clientId) return unknownClient(clientId);
    const grant = grantOf(form);
    if ('statusCode' in grant) return grant;
    const user = { sub: grant.user.sub, groups: grant.user.group };
    const refresh_token = form.get('refresh_token') ?? randomUUID();
    refreshTokens.set(refresh_token, grant.user);
    return jsonAnswer(200, {
      access_token: await mintToken({ ...user, expiresInSeconds: lifetimeInSeconds }),
      token_type: 'Bearer',
      expires_in: lifetimeInSeconds,
      id_token: await mintIdToken(user, { issuer, nonce: grant.nonce }),
      refresh_token,
    });
  };

  const beginDevice = ({ body, issuer }: SignInRequest): ApiResponse => {
    if (new URLSearchParams(body).get('client_id') !== clientId) return unknownClient(clientId);
    const begun = devices.begin();
    const verification_uri = `${issuer}/device`;
    return jsonAnswer(200, {
      ...begun,
      verification_uri,
      verification_uri_complete: `${verification_uri}?user_code=${begun.user_code}`,
    });
  };

  const decideDevice = ({ body }: SignInRequest): ApiResponse => {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), decision), body);
    if (!parsed.success) return refusal(messagesOf(parsed.issues));
    const isDecided = devices.decide(parsed.output.user_code, 'refused' in parsed.output ? 'refused' : parsed.output);
    if (isDecided) return jsonAnswer(200, {});
    return apiGatewayMessage(404, 'No sign-in waits with this code. Begin again in the terminal.');
  };

  const signOut = ({ query, origin }: SignInRequest): ApiResponse => {
    const returnTo = query.get('post_logout_redirect_uri');
    if (returnTo === null) return jsonAnswer(200, {});
    if (URL.parse(returnTo)?.origin !== origin) return refusal('post_logout_redirect_uri is not of this service.');
    return redirect(returnTo, { state: query.get('state') });
  };

  const routes: Record<string, (request: SignInRequest) => ApiResponse | Promise<ApiResponse>> = {
    'GET /.well-known/openid-configuration': ({ issuer }) => jsonAnswer(200, metadataOf(issuer)),
    'GET /jwks': () => jsonAnswer(200, publicKeys),
    'GET /authorize': authorize,
    'POST /token': token,
    'POST /device_authorization': beginDevice,
    'POST /device': decideDevice,
    'GET /endsession': signOut,
  };
  return async (request: SignInRequest): Promise<ApiResponse> =>
    (await routes[request.route]?.(request)) ?? apiGatewayMessage(404, 'Not Found');
}

function metadataOf(issuer: string): object {
  return {
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
}

function redirect(uri: string, parameters: Record<string, string | null>): ApiResponse {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value);
  return { statusCode: 302, headers: { location: url.href, 'cache-control': 'no-store' }, body: Buffer.alloc(0) };
}

function refusal(message: string): ApiResponse {
  return apiGatewayMessage(400, message);
}

function oauthError(statusCode: number, error: string, error_description: string): ApiResponse {
  return jsonAnswer(statusCode, { error, error_description });
}

function unknownClient(clientId: string): ApiResponse {
  return oauthError(401, 'invalid_client', `Expected client_id ${clientId}.`);
}

function messagesOf(issues: { message: string }[]): string {
  return issues.map(({ message }) => message).join(' ');
}

/** The reasons for which a device gets no token (RFC 8628, section 3.5), and the description in the answer. */
const notYet = {
  authorization_pending: 'The user has not decided yet.',
  access_denied: 'The user refused.',
  expired_token: 'The code has expired.',
};

interface Waiting {
  userCode: string;
  /** The end of the device's sign-in in milliseconds, as `performance.now()` counts. */
  expiresAt: number;
  decision: Identity | 'refused' | undefined;
}

const deviceLifetimeInSeconds = 600;
const intervalInSeconds = 1;

/** The letters of the codes that users type. There are no vowels, so that no code is a word (RFC 8628, section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

/** The sign-ins of devices, such as a terminal. Each waits until a user has decided about its code in a browser. */
function deviceSignIns() {
  const signIns = new Map<string, Waiting>();
  const isOver = ({ expiresAt }: Waiting) => performance.now() >= expiresAt;
  return {
    begin: () => {
      for (const [code, signIn] of signIns) if (isOver(signIn)) signIns.delete(code);
      const device_code = randomUUID();
      const user_code = newUserCode();
      const expiresAt = performance.now() + deviceLifetimeInSeconds * 1_000;
      signIns.set(device_code, { userCode: user_code, expiresAt, decision: undefined });
      return { device_code, user_code, expires_in: deviceLifetimeInSeconds, interval: intervalInSeconds };
    },
    /** Keeps the decision of a user about a code. Returns false if no sign-in waits with the code. */
    decide: (userCode: string, decision: Identity | 'refused'): boolean => {
      const typed = lettersOf(userCode);
      const found = [...signIns.values()].find((each) => lettersOf(each.userCode) === typed);
      if (!found || found.decision !== undefined || isOver(found)) return false;
      found.decision = decision;
      return true;
    },
    /**
     * Returns the user of a device's sign-in once, when the user has agreed. Before and afterwards, returns the reason why there is
     * no user.
     */
    take: (deviceCode: string): Identity | keyof typeof notYet => {
      const signIn = signIns.get(deviceCode);
      if (!signIn || isOver(signIn)) return 'expired_token';
      if (signIn.decision === undefined) return 'authorization_pending';
      signIns.delete(deviceCode);
      return signIn.decision === 'refused' ? 'access_denied' : signIn.decision;
    },
  };
}

function newUserCode(): string {
  const text = Array.from({ length: 8 }, () => letters.charAt(randomInt(letters.length))).join('');
  return `${text.slice(0, 4)}-${text.slice(4)}`;
}

function lettersOf(userCode: string): string {
  return userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
}
