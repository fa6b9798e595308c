import { sha256 } from '#primitives';
import { fromBase64, toBase64Url } from './bytes.ts';
import { canonicalJson } from './digests.ts';

/**
 * Verifies an ES256 signature of a text by a public key. False also if the key's coordinates are not those of a point on the
 * curve.
 * @param signature the signature in base64url. Other spellings of the same bytes do not verify.
 */
export async function verifiesEs256(text: string, signature: string, { x, y }: { x: string; y: string }): Promise<boolean> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const bytes = /^[\w-]{86}$/.test(signature) && fromBase64(`${signature.replaceAll('-', '+').replaceAll('_', '/')}==`);
  if (!bytes) return false;
  const jwk = { kty: 'EC', crv: 'P-256', x, y };
  const key = await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']).catch(() => undefined);
  return key !== undefined && (await crypto.subtle.verify(algorithm, key, bytes, new TextEncoder().encode(text)));
}

/** The number of characters of a key's thumbprint: a SHA-256 in base64url. */
export const lengthOfThumbprint = 43;

/** Returns the thumbprint of a public EC key in base64url (RFC 7638, section 3). */
export const thumbprintOf = ({ crv, x, y }: { crv?: unknown; x?: unknown; y?: unknown }): string =>
  toBase64Url(sha256(canonicalJson({ crv, kty: 'EC', x, y })));
