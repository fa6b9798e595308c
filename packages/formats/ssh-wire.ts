import { sha256 } from '#primitives';
import { derElements, toBase64, toHex } from './bytes.ts';

const curves = new Map(Object.entries({ '2a8648ce3d030107': 'nistp256', '2b81040022': 'nistp384', '2b81040023': 'nistp521' }));

/**
 * Returns the SSH wire form of a public key, of which fingerprints are made (RFC 4253, section 6.6; RFC 5656, section 3.1; RFC
 * 8709, section 4). Works in browsers too.
 * @param spki a valid Ed25519, ECDSA or RSA key as DER SubjectPublicKeyInfo, with uncompressed points
 */
export function sshWireOf(spki: Uint8Array): Uint8Array {
  const contentsOf = (bytes: Uint8Array) => derElements(bytes).map(({ content }) => content);
  const [algorithm = spki, bits = spki] = contentsOf(contentsOf(spki)[0] ?? spki);
  const [type, curve] = contentsOf(algorithm).map(toHex);
  const key = bits.subarray(1);
  const name = curves.get(curve ?? '') ?? '';
  if (type === '2b6570') return strings('ssh-ed25519', key);
  if (type === '2a8648ce3d0201') return strings(`ecdsa-sha2-${name}`, name, key);
  const [modulus = key, exponent = key] = contentsOf(contentsOf(key)[0] ?? key); // as RFC 4251 encodes numbers
  return strings('ssh-rsa', exponent, modulus);
}

/** Returns the fingerprint of a public key, as `ssh-keygen -lf` prints it. @param spki the key as DER SubjectPublicKeyInfo */
export const fingerprintOfSpki = (spki: Uint8Array): string => `SHA256:${toBase64(sha256(sshWireOf(spki))).replace(/=+$/, '')}`;

function strings(...parts: (string | Uint8Array)[]): Uint8Array {
  const bytes = parts.map((part) => (typeof part === 'string' ? new TextEncoder().encode(part) : part));
  return Uint8Array.from(bytes.flatMap((part) => [part.length >> 24, part.length >> 16, part.length >> 8, part.length, ...part]));
}
