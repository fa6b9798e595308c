import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/** A new public key in base64, as endpoint 10 accepts it, with a description. */
export interface PublicKeyFile {
  base64: string;
  kind: string;
}

/** A key of each algorithm and file format that the service supports. Nothing is signed, so the private keys are not kept. */
export const publicKeys = {
  openSshEd25519: (user: string): PublicKeyFile => ({
    base64: base64(openSshLine(generateKeyPairSync('ed25519').publicKey, user)),
    kind: 'Ed25519, as OpenSSH',
  }),
  pemRsa: (): PublicKeyFile => ({
    base64: base64(generateKeyPairSync('rsa', { modulusLength: 3072 }).publicKey.export({ format: 'pem', type: 'spki' })),
    kind: 'RSA 3072, as PEM',
  }),
  derEcdsa: (): PublicKeyFile => ({
    base64: base64(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'der', type: 'spki' })),
    kind: 'ECDSA P-256, as DER',
  }),
  pemEd25519: (): PublicKeyFile => ({
    base64: base64(generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' })),
    kind: 'Ed25519, as PEM',
  }),
};

/** Formats a key as `ssh-keygen -t ed25519` writes it into `id_ed25519.pub` (RFC 8709). */
function openSshLine(key: KeyObject, comment: string): string {
  const type = 'ssh-ed25519';
  const raw = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
  const blob = Buffer.concat([lengthOf(type), Buffer.from(type), lengthOf(raw), raw]);
  return `${type} ${blob.toString('base64')} ${comment}\n`;
}

function lengthOf({ length }: { length: number }): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}

function base64(file: string | Buffer): string {
  return Buffer.from(file).toString('base64');
}
