import * as v from 'valibot';
import { createHash, createPublicKey } from 'node:crypto';
import { joinedSignature, toBase64Url } from 'computation-management-formats/bytes';
import { verifiesEs256, lengthOfThumbprint, thumbprintOf } from 'computation-management-formats/es256';
import { environment } from '../runtime/environment.ts';
import { namedObject, described, shownText } from 'computation-management-formats/fields';
import type { Kms } from '../runtime/clients.ts';

/** A signature by the key of the service, with the identifier of the key. */
export interface Signature {
  /** The values r and s of the signature by the key of the service, in base64url. */
  signature: string;
  key_id: string;
}

/**
 * Signs a text with the key of the service in KMS, by ES256, and verifies the signature. At most two calls of KMS.
 * @throws Error if the signature does not verify
 */
export async function sign(kms: Kms, text: string): Promise<Signature> {
  const KeyId = environment().SIGNING_KEY_ARN;
  const publicKey = await readPublicKey(kms, KeyId);
  const der = await kms.sign(KeyId, createHash('sha256').update(text).digest());
  const signature = toBase64Url(joinedSignature(der));
  // The statement never changes once it is stored, so a signature that nobody could verify must not get there.
  if (!(await verifiesEs256(text, signature, publicKey))) throw new Error('KMS returned a signature that does not verify.');
  return { signature, key_id: publicKey.kid };
}

/** Reads the public keys that verify evidence: the present key, and all keys that signed before. */
export async function readPublishedKeys(kms: Kms): Promise<PublicJwk[]> {
  const arns = environment().PUBLISHED_KEY_ARNS.split(',');
  return await Promise.all(arns.map((arn) => readPublicKey(kms, arn)));
}

/** The public keys of the service that were read from KMS, by ARN. The public key of a key in KMS never changes. */
const known = new Map<string, PublicJwk>();

async function readPublicKey(kms: Kms, KeyId: string): Promise<PublicJwk> {
  const before = known.get(KeyId);
  if (before) return before;
  const read = publicJwkOf(await kms.publicKey(KeyId));
  known.set(KeyId, read);
  return read;
}

/** The schema of a coordinate of a public key on P-256: 32 bytes in base64url. */
const coordinate = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{43}$/, 'Expected 32 bytes in base64url.'),
  v.metadata({ maxLength: 43 }),
);

export const publicJwkSchema = namedObject('PublicKey', 'A public key that verifies evidence, as a JSON Web Key (RFC 7517).', {
  kty: described(v.literal('EC'), 'The type of the key.'),
  crv: described(v.literal('P-256'), 'The elliptic curve.'),
  x: described(coordinate, 'The x coordinate, base64url.'),
  y: described(coordinate, 'The y coordinate, base64url.'),
  use: described(v.literal('sig'), 'What the key is for: signatures.'),
  alg: described(v.literal('ES256'), 'The signature algorithm.'),
  kid: shownText(lengthOfThumbprint, 'The thumbprint of the key (RFC 7638), as in the `key_id` of the evidence.'),
});

export type PublicJwk = v.InferOutput<typeof publicJwkSchema>;

/**
 * Returns a public key on P-256 as a JSON Web Key.
 * @param spki the key as DER SubjectPublicKeyInfo
 * @throws Error if it is no key on P-256
 */
export function publicJwkOf(spki: Uint8Array): PublicJwk {
  const { kty, crv, x, y } = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }).export({ format: 'jwk' });
  return v.parse(publicJwkSchema, { kty, crv, x, y, use: 'sig', alg: 'ES256', kid: thumbprintOf({ crv, x, y }) });
}
