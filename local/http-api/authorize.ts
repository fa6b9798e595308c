import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';

export interface AuthorizerOptions {
  issuer: string;
  audience: string;
  keys: JWTVerifyGetKey;
}

/** The claims as API Gateway passes them to a function, or the challenge of its 401. */
export type Authorization = { claims: Record<string, string> } | { challenge: string };

/** More tokens than the users of one machine have. Beyond this, their signatures are checked again. */
const mostTokens = 1_000;

/** The payloads of tokens that were checked, by the keys that they were checked with: clients send one token with many requests. */
const checked = new WeakMap<JWTVerifyGetKey, Map<string, JWTPayload>>();

/** Checks a bearer token as the JWT authorizer of an HTTP API does: signature (RS256), issuer, audience, times. */
export async function authorize(header: string | undefined, options: AuthorizerOptions): Promise<Authorization> {
  const token = /^Bearer +([^ ]+)$/i.exec(header ?? '')?.[1];
  if (token === undefined) return { challenge: 'Bearer' };
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

/** @throws JOSEError if the token is not valid, or has expired; JWKSTimeout if its issuer does not give its keys in time */
async function payloadOf(token: string, { issuer, keys }: AuthorizerOptions): Promise<JWTPayload> {
  const known = checked.get(keys) ?? new Map<string, JWTPayload>();
  checked.set(keys, known);
  const before = known.get(token);
  if (before?.exp !== undefined && before.exp > Date.now() / 1_000) return before;
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    algorithms: ['RS256'],
    clockTolerance: 0,
    requiredClaims: ['exp'],
  });
  if (known.size >= mostTokens) known.clear();
  known.set(token, payload);
  return payload;
}

/** A token without `aud`, such as an access token of Cognito, names its audience in `client_id`. */
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

/** API Gateway gives every claim as one string: an array as `[a b c]`, an object as `map[k:v]`. */
function claimText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(claimText).join(' ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([key, inner]) => `${key}:${claimText(inner)}`);
  return `map[${entries.join(' ')}]`;
}
