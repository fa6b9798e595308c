import type { JsonWebKey } from 'node:crypto';
import { InvalidKeyError } from './invalid-key-error.ts';

const curves = [
  { crv: 'P-256', name: 'nistp256' },
  { crv: 'P-384', name: 'nistp384' },
  { crv: 'P-521', name: 'nistp521' },
];

const uncompressedPoint = 0x04;

/**
 * Converts an SSH public key blob (RFC 4253, section 6.6; RFC 5656, section 3.1; RFC 8709, section 4) to a JSON Web Key (RFC
 * 7518, RFC 8037). It only extracts the numbers. The caller lets node:crypto check that they are a key, and compares the blob
 * with the result of `sshWireKey` to find extra bytes.
 *
 * It is own code because the npm packages that read all of these types add 130 KB (ssh2) and 190 KB (sshpk) to every bundle,
 * most of it for private keys.
 * @throws InvalidKeyError for other types, such as certificates and keys of hardware tokens, and for broken blobs
 */
export function jwkOfSshWireKey(blob: Buffer): JsonWebKey {
  const [typeName, first, second] = readStrings(blob);
  const type = typeName?.toString('latin1');
  if (type === 'ssh-ed25519' && first) return { kty: 'OKP', crv: 'Ed25519', x: first.toString('base64url') };
  if (type === 'ssh-rsa' && first && second) return { kty: 'RSA', e: unsigned(first), n: unsigned(second) };
  const curve = curves.find(({ name }) => type === `ecdsa-sha2-${name}`);
  if (curve && second?.[0] === uncompressedPoint) {
    const middle = Math.ceil(second.length / 2);
    const [x, y] = [second.subarray(1, middle), second.subarray(middle)];
    return { kty: 'EC', crv: curve.crv, x: x.toString('base64url'), y: y.toString('base64url') };
  }
  throw new InvalidKeyError('An OpenSSH key must be of type ssh-rsa, ecdsa-sha2-nistp256, -nistp384, -nistp521 or ssh-ed25519.');
}

/** Converts a JSON Web Key of one of these types to an SSH public key blob, the input of `ssh-keygen -l` fingerprints. */
export function sshWireKey(jwk: JsonWebKey): Buffer {
  const bytes = (member: string | undefined) => Buffer.from(member ?? '', 'base64url');
  if (jwk.kty === 'OKP') return writeStrings(['ssh-ed25519', bytes(jwk.x)]);
  if (jwk.kty === 'RSA') return writeStrings(['ssh-rsa', mpint(bytes(jwk.e)), mpint(bytes(jwk.n))]);
  const name = curves.find(({ crv }) => crv === jwk.crv)?.name ?? '';
  return writeStrings([`ecdsa-sha2-${name}`, name, Buffer.concat([Buffer.of(uncompressedPoint), bytes(jwk.x), bytes(jwk.y)])]);
}

function readStrings(blob: Buffer): Buffer[] {
  const strings: Buffer[] = [];
  for (let start = 0; start < blob.length;) {
    const begin = start + 4;
    const end = begin <= blob.length ? begin + blob.readUInt32BE(start) : Infinity;
    if (end > blob.length) throw new InvalidKeyError('The OpenSSH key is cut off or broken.');
    strings.push(blob.subarray(begin, end));
    start = end;
  }
  return strings;
}

function writeStrings(strings: (string | Buffer)[]): Buffer {
  const parts = strings.map((string) => (typeof string === 'string' ? Buffer.from(string, 'latin1') : string));
  return Buffer.concat(parts.flatMap((part) => [uint32(part.length), part]));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Encodes a number by RFC 4251, section 5. A leading zero byte prevents that it is read as negative. */
function mpint(unsignedNumber: Buffer): Buffer {
  return (unsignedNumber[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), unsignedNumber]) : unsignedNumber;
}

function unsigned(mpint: Buffer): string {
  return (mpint[0] === 0 ? mpint.subarray(1) : mpint).toString('base64url');
}
