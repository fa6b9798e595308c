import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { canonicalJson } from 'computation-management-formats/digests';
import { orRefuse, Refused } from './refused.ts';

/** A public key that was made inside a TEE: what is encrypted for it, only that TEE reads. */
export interface TeeKey {
  alg: 'ECDH-ES+A256KW' | 'RSA-OAEP-256';
  key: KeyObject;
  /** The key in its one spelling, with the members that its thumbprint covers. */
  jwk: { kty: 'EC'; crv: string; x: string; y: string } | { kty: 'RSA'; n: string; e: string };
}

const curves = ['P-256', 'P-521'];

/**
 * Reads the public key of a TEE: of EC on P-256 or P-521, or of RSA with 2,048 to 8,192 bits and the exponent 65,537. Members that are not needed
 * are ignored.
 * @throws Refused if it is another key, or names another algorithm than ECDH-ES+A256KW or RSA-OAEP-256
 */
export function parseTeeKey(given: unknown): TeeKey {
  const { kty, crv, x, y, n, e, alg } = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  if (kty === 'EC' && curves.some((curve) => curve === crv) && (alg === undefined || alg === 'ECDH-ES+A256KW')) {
    const key = read({ kty, crv, x, y } as JsonWebKey);
    const exported = key.export({ format: 'jwk' });
    return { alg: 'ECDH-ES+A256KW', key, jwk: { kty, crv: crv as string, x: exported.x ?? '', y: exported.y ?? '' } };
  }
  if (kty === 'RSA' && (alg === undefined || alg === 'RSA-OAEP-256')) {
    const key = read({ kty, n, e } as JsonWebKey);
    const { modulusLength = 0, publicExponent } = key.asymmetricKeyDetails ?? {};
    if (modulusLength < 2_048 || modulusLength > 8_192 || publicExponent !== 65_537n)
      throw new Refused('tee-pubkey is a key of RSA that has not 2,048 to 8,192 bits and the exponent 65,537.');
    const exported = key.export({ format: 'jwk' });
    return { alg: 'RSA-OAEP-256', key, jwk: { kty, n: exported.n ?? '', e: exported.e ?? '' } };
  }
  throw new Refused('tee-pubkey is no key of EC on P-256 or P-521 for ECDH-ES+A256KW, and no key of RSA for RSA-OAEP-256.');
}

const read = (jwk: JsonWebKey): KeyObject =>
  orRefuse(() => createPublicKey({ key: jwk, format: 'jwk' }), 'tee-pubkey is no valid key.');

/** Returns the thumbprint of a public key of a TEE, base64url (RFC 7638). @throws Refused if it is no such key */
export const teeThumbprint = (jwk: JsonWebKey): string =>
  createHash('sha256')
    .update(canonicalJson(parseTeeKey(jwk).jwk))
    .digest('base64url');
