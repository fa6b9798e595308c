import { sha256 } from '@noble/hashes/sha2.js';

const encoder = new TextEncoder();

/** Reads the elements in DER (X.690), as far as there are any. */
function elements(bytes: Uint8Array): Uint8Array[] {
  const [, first = 0] = bytes;
  const count = first < 0x80 ? 0 : first - 0x80;
  if (bytes.length < 2 + count || count > 4) return [];
  const length = count === 0 ? first : bytes.subarray(2, 2 + count).reduce((sum, byte) => sum * 256 + byte, 0);
  const end = 2 + count + length;
  return [bytes.subarray(2 + count, end), ...elements(bytes.subarray(end))];
}

const curves = new Map([
  ['2a8648ce3d030107', 'nistp256'],
  ['2b81040022', 'nistp384'],
  ['2b81040023', 'nistp521'],
]);

/** Returns the parts of the key in the form of SSH (RFC 4253, RFC 5656, RFC 8709). */
function sshParts(spki: Uint8Array): Uint8Array[] {
  const [algorithm = spki, bits = spki] = elements(elements(spki)[0] ?? spki);
  const [type, curve] = elements(algorithm).map(hex);
  const key = bits.subarray(1);
  const name = curves.get(curve ?? '') ?? '';
  if (type === '2b6570') return [encoder.encode('ssh-ed25519'), key];
  if (type === '2a8648ce3d0201') return [encoder.encode(`ecdsa-sha2-${name}`), encoder.encode(name), key];
  const [modulus = key, exponent = key] = elements(elements(key)[0] ?? key);
  return [encoder.encode('ssh-rsa'), exponent, modulus];
}

function hex(bytes: Uint8Array): string {
  return bytes.reduce((text, byte) => text + byte.toString(16).padStart(2, '0'), '');
}

/** Returns the fingerprint of a key in a manifest, as `ssh-keygen -lf` prints it. @param key base64 of a DER SubjectPublicKeyInfo; returned if it is not */
export function fingerprintOf(key: string): string {
  if (!/^M[A-Za-z0-9+/]+={0,2}$/.test(key)) return key;
  const parts = sshParts(Uint8Array.from(atob(key), (character) => character.charCodeAt(0)));
  const wire = parts.flatMap((part) => [...new Uint8Array(new Uint32Array([part.length]).buffer).reverse(), ...part]);
  return `SHA256:${btoa(String.fromCharCode(...sha256(Uint8Array.from(wire)))).replace(/=+$/, '')}`;
}
