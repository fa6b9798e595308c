import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import * as v from 'valibot';
import { canonicalJson } from '../canonical-json.ts';
import { shownText } from '../text.ts';

/** Of a SHA-256 in base64url. */
export const lengthOfThumbprint = 43;

/** 32 bytes in base64url. */
const coordinate = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{43}$/, 'Expected 32 bytes in base64url.'),
  v.metadata({ maxLength: 43 }),
);

/** A public key that verifies evidence, as a JSON Web Key (RFC 7517) for ES256. */
export const publicJwkSchema = v.pipe(
  v.object({
    kty: v.pipe(v.literal('EC'), v.description('The type of the key.')),
    crv: v.pipe(v.literal('P-256'), v.description('The elliptic curve.')),
    x: v.pipe(coordinate, v.description('The x coordinate, base64url.')),
    y: v.pipe(coordinate, v.description('The y coordinate, base64url.')),
    use: v.pipe(v.literal('sig'), v.description('What the key is for: signatures.')),
    alg: v.pipe(v.literal('ES256'), v.description('The signature algorithm.')),
    kid: v.pipe(
      shownText(lengthOfThumbprint),
      v.description('The thumbprint of the key (RFC 7638), as in the `key_id` of the evidence.'),
    ),
  }),
  v.title('PublicKey'),
  v.description('A public key that verifies evidence, as a JSON Web Key (RFC 7517).'),
);
export type PublicJwk = v.InferOutput<typeof publicJwkSchema>;

/** @param spki DER SubjectPublicKeyInfo @throws Error if it is no key on P-256 */
export function publicJwkOf(spki: Uint8Array): PublicJwk {
  const { kty, crv, x, y } = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }).export({ format: 'jwk' });
  return v.parse(publicJwkSchema, { kty, crv, x, y, use: 'sig', alg: 'ES256', kid: thumbprintOf({ crv, x, y }) });
}

/** Returns the thumbprint of a key on an elliptic curve: the SHA-256, base64url, of its required members (RFC 7638, section 3). */
export function thumbprintOf({ crv, x, y }: { crv?: unknown; x?: unknown; y?: unknown }): string {
  return createHash('sha256')
    .update(canonicalJson({ crv, kty: 'EC', x, y }))
    .digest('base64url');
}

/** @throws Error if the coordinates are not those of a point on the curve */
export function keyObjectOf({ kty, crv, x, y }: Pick<PublicJwk, 'kty' | 'crv' | 'x' | 'y'>): KeyObject {
  return createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
}
