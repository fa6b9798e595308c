import { createPublicKey } from 'node:crypto';
import { lengthOfThumbprint, thumbprintOf } from 'computation-management-formats/es256';
import { shownText } from 'computation-management-formats/fields';
import * as v from 'valibot';

/** 32 bytes in base64url. */
const coordinate = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{43}$/, 'Expected 32 bytes in base64url.'),
  v.metadata({ maxLength: 43 }),
);

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
