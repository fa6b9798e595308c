import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

/** Of each of the two integers of a signature. */
export const bytesOfInteger = 32;

/** @param signature base64url. Other spellings of the same bytes do not verify. */
export function verifiesEs256(text: string, signature: string, key: KeyObject): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.length !== 2 * bytesOfInteger || bytes.toString('base64url') !== signature) return false;
  return verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, bytes);
}

/** Of a SHA-256 in base64url. */
export const lengthOfThumbprint = 43;

/** RFC 7638, section 3. */
export function thumbprintOf({ crv, x, y }: { crv?: unknown; x?: unknown; y?: unknown }): string {
  return createHash('sha256')
    .update(canonicalJson({ crv, kty: 'EC', x, y }))
    .digest('base64url');
}

/** @throws Error if the coordinates are not those of a point on the curve */
export function keyObjectOf({ kty, crv, x, y }: { kty: string; crv: string; x: string; y: string }): KeyObject {
  return createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
}
