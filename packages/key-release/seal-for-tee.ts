import {
  constants,
  createCipheriv,
  createHash,
  diffieHellman,
  generateKeyPairSync,
  type JsonWebKey,
  publicEncrypt,
  randomBytes,
  createPublicKey,
  type KeyObject,
} from 'node:crypto';
import { canonicalJson } from 'computation-management-formats/digests';
import { orRefuse, Refused } from './refused.ts';

/** A sealed key: a JWE in its flattened form (RFC 7516, section 7.2.2), each member in base64url. */
export interface Jwe {
  protected: string;
  encrypted_key: string;
  iv: string;
  ciphertext: string;
  tag: string;
}

/**
 * Encrypts a key for the TEE that made a public key, by A256GCM. The client computes the associated data from the header as it writes the
 * header itself, so the order of its members counts: `alg`, `enc`, then `epk` with `crv`, `kty`, `x`, `y`.
 * @throws Refused if the public key is none that `parseTeeKey` reads
 */
export function sealForTee(key: Uint8Array, teePublicKey: JsonWebKey): Jwe {
  const contentKey = randomBytes(32);
  const { encrypted, header } = wrap(contentKey, parseTeeKey(teePublicKey));
  const protectedHeader = Buffer.from(JSON.stringify(header)).toString('base64url');
  const iv = randomBytes(12);
  const encryption = createCipheriv('aes-256-gcm', contentKey, iv).setAAD(Buffer.from(protectedHeader));
  const ciphertext = Buffer.concat([encryption.update(key), encryption.final()]);
  return {
    protected: protectedHeader,
    encrypted_key: encrypted.toString('base64url'),
    iv: iv.toString('base64url'),
    ciphertext: ciphertext.toString('base64url'),
    tag: encryption.getAuthTag().toString('base64url'),
  };
}

const enc = 'A256GCM';

function wrap(contentKey: Buffer, { alg, key, jwk }: TeeKey): { encrypted: Buffer; header: object } {
  if (jwk.kty === 'RSA') {
    const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
    return { encrypted: publicEncrypt({ key, ...padding }, contentKey), header: { alg, enc } };
  }
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: jwk.crv });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const wrapping = createCipheriv(
    'id-aes256-wrap',
    derive(diffieHellman({ privateKey, publicKey: key }), alg),
    Buffer.alloc(8, 0xa6),
  );
  const encrypted = Buffer.concat([wrapping.update(contentKey), wrapping.final()]);
  return { encrypted, header: { alg, enc, epk: { crv: jwk.crv, kty: 'EC', x, y } } };
}

/** Derives a key of 256 bits from a shared secret, without names of the parties (RFC 7518, section 4.6.2). */
function derive(secret: Buffer, algorithm: string): Buffer {
  const number = (value: number) => Uint8Array.of(0, 0, value >> 8, value & 255);
  const name = Buffer.from(algorithm);
  const info = [number(1), secret, number(name.length), name, number(0), number(0), number(256)];
  return info.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
}

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
