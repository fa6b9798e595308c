import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';

export interface AuthorizerOptions {
  issuer: string;
  audience: string;
  keys: JWTVerifyGetKey;
}

/**
 * The result of checking a bearer token: the claims as API Gateway passes them to a function, or the challenge of a 401 answer.
 */
export type Authorization = { claims: Record<string, string> } | { challenge: string };

/**
 * The most checked tokens that are remembered: more than the users of one machine have. When there are more, all are forgotten,
 * and signatures are checked again.
 */
const mostTokens = 1_000;

/**
 * The payloads of the bearer tokens whose signature was checked, by the issuer's keys that they were checked with. Clients send
 * one token with many requests.
 */
const checked = new WeakMap<JWTVerifyGetKey, Map<string, JWTPayload>>();

/**
 * Checks the bearer token of a request as the JWT authorizer of an HTTP API does: signature (RS256), issuer, audience, times.
 * @param header the `authorization` header of the request
 */
export async function authorize(header: string | undefined, options: AuthorizerOptions): Promise<Authorization> {
  const token = /^Bearer +([^ ]+)$/i.exec(header ?? '')?.[1];
  if (token === undefined) return { challenge: 'Bearer' }; // defence
  try {
    const payload = await payloadOf(token, options);
    const refusal = refusalOf(payload, options.audience);
    return refusal === undefined ? { claims: asText(payload) } : invalidToken(refusal);
  } catch (error) {
    if (error instanceof errors.JWTExpired) return invalidToken('the token has expired');
    if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout))
      return invalidToken('the token is not valid');
    throw error;
  }
}

/**
 * Returns the payload of a token whose signature, issuer and expiry are valid. @throws JOSEError if the token is not valid, or
 * has expired; JWKSTimeout if the issuer does not give its keys in time
 */
async function payloadOf(token: string, { issuer, keys }: AuthorizerOptions): Promise<JWTPayload> {
  const known = checked.get(keys) ?? new Map<string, JWTPayload>();
  checked.set(keys, known);
  const before = known.get(token);
  if (before?.exp !== undefined && before.exp > Date.now() / 1_000) return before;
  const { payload } = await jwtVerify(token, keys, { issuer, algorithms: ['RS256'], clockTolerance: 0, requiredClaims: ['exp'] });
  if (known.size >= mostTokens) known.clear();
  known.set(token, payload);
  return payload;
}

/**
 * Returns why the audience or the time of issue of a token is refused, or undefined if both are accepted. The audience is in
 * `aud`, or in `client_id` of a token without `aud`, such as an access token of Cognito.
 */
function refusalOf(payload: JWTPayload, audience: string): string | undefined {
  const audiences = [payload.aud ?? payload['client_id']].flat();
  if (!audiences.includes(audience)) return 'the token does not have a valid audience';
  if (payload.iat !== undefined && payload.iat > Date.now() / 1_000) return 'the token was issued in the future';
  return undefined;
}

function invalidToken(description: string): Authorization {
  return { challenge: `Bearer scope="" error="invalid_token" error_description="${description}"` };
}

function asText(payload: JWTPayload): Record<string, string> {
  return Object.fromEntries(Object.entries(payload).map(([name, value]) => [name, claimText(value)]));
}

/**
 * Returns a claim of a token as the string that API Gateway gives to functions: an array as `[a b c]`, an object as `map[k:v]`.
 */
function claimText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(claimText).join(' ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([key, inner]) => `${key}:${claimText(inner)}`);
  return `map[${entries.join(' ')}]`;
}
