import {
  constants,
  createCipheriv,
  createHash,
  diffieHellman,
  generateKeyPairSync,
  type JsonWebKey,
  publicEncrypt,
  randomBytes,
} from 'node:crypto';
import { parseTeeKey, type TeeKey } from './tee-key.ts';

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
