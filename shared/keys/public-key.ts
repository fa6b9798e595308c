import { createHash, createPrivateKey, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { InvalidKeyError } from './invalid-key-error.ts';
import { jwkOfSshWireKey, sshWireKey } from './ssh-wire-key.ts';

export interface PublicKey {
  /** DER SubjectPublicKeyInfo: what Go's x509.ParsePKIXPublicKey, and so the agent, reads. */
  spki: Buffer;
  /** `SHA256:` and 43 characters, as `ssh-keygen -lf` prints it, whatever form the key was sent in. */
  fingerprint: string;
  algorithm: 'rsa' | 'ecdsa' | 'ed25519';
}

const leastRsaBits = 2048;
const mostRsaBits = 16_384;
const mostCharacters = 16_384;

const expected =
  'Expected the base64 of one public key file: OpenSSH (a line such as "ssh-ed25519 AAAA..."), PEM ("BEGIN PUBLIC KEY") or DER; ' +
  `RSA (${leastRsaBits} to ${mostRsaBits} bits), ECDSA (P-256, P-384, P-521) or Ed25519.`;
const privateKeySent = 'This is a private key. Never share it. Send its public key. ';
const certificateSent = 'This is a certificate. Send the public key in it. ';

/**
 * Reads the base64 (RFC 4648, section 4; line breaks allowed) of a public key: an OpenSSH line, with or without a comment, or
 * its `AAAA...` part decoded; PEM (`PUBLIC KEY`, `RSA PUBLIC KEY`); or the DER of either. Which keys are taken follows
 * docs/contract.md, section 4, and what the agent can verify signatures with.
 *
 * The fingerprint is the one of SSH, the SHA-256 of the key's wire form, because that is the one people can look up:
 * `ssh-keygen -lf id_ed25519.pub`, and for PEM `ssh-keygen -i -m PKCS8 -f key.pem > key.pub` first.
 * @throws InvalidKeyError for everything else, and for more than 16,384 characters; its message tells private keys and
 * certificates apart.
 */
export function parsePublicKey(base64: string): PublicKey {
  if (base64.length > mostCharacters) throw new InvalidKeyError(expected);
  const bytes = decode(base64.replace(/\s/g, ''));
  const text = bytes.toString('latin1').trim();
  if (/---- ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY|^(?:PuTTY-User-Key-File|openssh-key-v1)/.test(text))
    throw new InvalidKeyError(privateKeySent + expected);
  if (text.startsWith('-----BEGIN')) return fromDer(unarmoured(text));
  if (text.startsWith('\0')) return fromSshWire(bytes);
  const line = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t][^\r\n]*)?$/.exec(text);
  return line ? fromSshLine(line[1] ?? '', line[2] ?? '') : fromDer(bytes);
}

function decode(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== base64) throw new InvalidKeyError(expected);
  return bytes;
}

function unarmoured(pem: string): Buffer {
  const [, label = '', body = '', endLabel] = /^-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END ([A-Z0-9 ]+)-----$/.exec(pem) ?? [];
  if (label.endsWith('CERTIFICATE')) throw new InvalidKeyError(certificateSent + expected);
  if (!['PUBLIC KEY', 'RSA PUBLIC KEY'].includes(label) || endLabel !== label) throw new InvalidKeyError(expected);
  return decode(body.replace(/\s/g, ''));
}

function fromSshLine(type: string, base64: string): PublicKey {
  const blob = decode(base64);
  const named = blob.toString('latin1', 4).startsWith(`${type}\0`);
  if (!named) throw new InvalidKeyError('The type at the start of the line differs from the type of the OpenSSH key.');
  return fromSshWire(blob);
}

function fromSshWire(blob: Buffer): PublicKey {
  const jwk = jwkOfSshWireKey(blob);
  const key = attempt(() => createPublicKey({ key: jwk, format: 'jwk' }));
  if (!key) throw new InvalidKeyError('The OpenSSH key is not a valid key of its type.');
  const { publicKey, wire } = fromKeyObject(key);
  if (!wire.equals(blob))
    throw new InvalidKeyError('The OpenSSH key is not encoded as in RFC 4253, or has extra bytes at its end.');
  return publicKey;
}

function fromDer(der: Buffer): PublicKey {
  for (const type of ['spki', 'pkcs1'] as const) {
    const key = attempt(() => createPublicKey({ key: der, format: 'der', type }));
    const again = key && attempt(() => key.export({ format: 'der', type: 'spki' }));
    // A PKCS#1 key is the tail of its SubjectPublicKeyInfo. OpenSSL alone would ignore what follows a key.
    if (key && again?.subarray(-der.length).equals(der)) return fromKeyObject(key).publicKey;
  }
  if (isPrivateKey(der)) throw new InvalidKeyError(privateKeySent + expected);
  if (attempt(() => new X509Certificate(der))) throw new InvalidKeyError(certificateSent + expected);
  throw new InvalidKeyError(expected);
}

function isPrivateKey(der: Buffer): boolean {
  return (['pkcs8', 'pkcs1', 'sec1'] as const).some((type) => {
    try {
      return createPrivateKey({ key: der, format: 'der', type }).type === 'private';
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ERR_MISSING_PASSPHRASE';
    }
  });
}

/** By way of its JSON Web Key, which has one form only, so that a compressed point becomes the uncompressed one Go reads. */
function fromKeyObject(given: KeyObject): { publicKey: PublicKey; wire: Buffer } {
  const algorithm = algorithmOf(given);
  const jwk = given.export({ format: 'jwk' });
  const wire = sshWireKey(jwk);
  const spki = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'der', type: 'spki' });
  const fingerprint = `SHA256:${createHash('sha256').update(wire).digest('base64').replace(/=+$/, '')}`;
  return { publicKey: { spki, fingerprint, algorithm }, wire };
}

function algorithmOf(key: KeyObject): PublicKey['algorithm'] {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ed25519') return 'ed25519';
  if (key.asymmetricKeyType === 'ec' && ['prime256v1', 'secp384r1', 'secp521r1'].includes(namedCurve)) return 'ecdsa';
  if (key.asymmetricKeyType !== 'rsa') throw new InvalidKeyError(expected);
  if (modulusLength < leastRsaBits || modulusLength > mostRsaBits) throw new InvalidKeyError(expected);
  // Go's crypto/rsa verifies with odd exponents of up to 31 bits; with an exponent of 1 anyone could sign.
  if (publicExponent < 3n || publicExponent % 2n === 0n || publicExponent >= 2n ** 31n) {
    throw new InvalidKeyError(
      'The RSA key has an unusual public exponent. Expected an odd exponent of up to 31 bits, usually 65537.',
    );
  }
  return 'rsa';
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
