import { verifiesEs256 } from 'computation-management-formats/es256';
import { refusedNow } from './refused.ts';

/** The time for which a token opens its session. */
export const tokenSeconds = 300;

/** The content of an attestation token. */
export interface TokenClaims {
  /** The identifier of the session that the token opens. */
  session: string;
  /** The audience of the token, such as a domain. */
  audience: string;
  /** The platform of the evidence, such as `snp`. */
  platform: string;
  /** The status of the evidence. `affirming`: it passed every check. `warning`: it failed only checks that a policy may allow to fail. */
  status: 'affirming' | 'warning';
  teePublicKey: unknown;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * Returns the text to sign of an attestation token: a JWT that has the form of an EAT attestation result (EAR). The token is this text, a dot and
 * its signature by ES256 in base64url.
 */
export function tokenInput({ session, audience, platform, status, teePublicKey }: TokenClaims, now: Date): string {
  const iat = Math.floor(now.getTime() / 1_000);
  const claims = {
    eat_profile: 'tag:github.com,2023:veraison/ear',
    aud: audience,
    iat,
    exp: iat + tokenSeconds,
    jti: session,
    'ear.verifier-id': { developer: 'computation-management', build: 'key-release' },
    submods: { [platform]: { 'ear.status': status } },
    'tee-pubkey': teePublicKey,
  };
  return `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode(claims)}`;
}

/**
 * Returns the session that a token opens.
 * @param keys the public keys on P-256 of those who may have signed it
 * @throws Refused if none of them has, or the token has expired or is for another audience
 */
export async function readToken(
  token: string,
  { keys, audience, now }: { keys: readonly { x: string; y: string }[]; audience: string; now: Date },
): Promise<string> {
  const [header = '', payload = '', signature = '', ...others] = token.split('.');
  const signed = await Promise.all(keys.map((key) => verifiesEs256(`${header}.${payload}`, signature, key)));
  if (others.length > 0 || !signed.some(Boolean)) throw refusedNow('The token is none of this service.');
  const { aud, exp, jti } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  if (aud !== audience || typeof jti !== 'string') throw refusedNow('The token is of another domain.');
  if (typeof exp !== 'number' || exp * 1_000 <= now.getTime()) throw refusedNow('The token has expired.');
  return jti;
}
