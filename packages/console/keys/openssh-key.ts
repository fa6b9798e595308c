import { type Bytes, fromHex, toBase64Url, toLatin1, unsigned } from 'computation-management-formats/bytes';

/** The error of a file that cannot sign in a browser. The message says why, and what to do. */
export class UnusableKey extends Error {}

/** The error of a private key whose passphrase is missing or wrong. */
export class NeedsPassphrase extends Error {}

/** A JSON Web Key, as browsers and Node take it (RFC 7517, RFC 8037). */
export type Jwk = { kty: string } & Partial<Record<'crv' | 'x' | 'y' | 'd' | 'n' | 'e' | 'p' | 'q' | 'dp' | 'dq' | 'qi', string>>;

/** The bytes at the beginning of a private key in the format of OpenSSH (PROTOCOL.key in its source). */
const magic = 'openssh-key-v1\0';
const lengths: Record<string, number> = { 'aes128-ctr': 16, 'aes192-ctr': 24, 'aes256-ctr': 32 };
/** The most rounds of key derivation that a private key's file may ask for. More rounds would take minutes. */
const mostRounds = 1_000;

/** Reads a private key in the format of OpenSSH: Ed25519, ECDSA or RSA. @throws NeedsPassphrase, or UnusableKey */
export async function readOpenSshKey(bytes: Bytes, passphrase: string): Promise<Jwk> {
  const file = reader(bytes);
  if (toLatin1(file.take(magic.length)) !== magic) throw new UnusableKey('The file is no key of OpenSSH.');
  const [cipher, derivation, options] = [toLatin1(file.string()), toLatin1(file.string()), file.string()];
  file.number(); // of keys: OpenSSH writes one
  file.string();
  const secret = file.string();
  if (cipher === 'none') return keyIn(secret);
  const length = lengths[cipher];
  if (length === undefined || derivation !== 'bcrypt') {
    const change = 'First change that: ssh-keygen -p -Z aes256-ctr -f KEYFILE';
    throw new UnusableKey(`The browser cannot read a key that ${cipher} protects. ${change}`);
  }
  if (passphrase === '') throw new NeedsPassphrase('The key has a passphrase.');
  return keyIn(await decrypted(secret, length, reader(options), passphrase));
}

async function decrypted(secret: Bytes, length: number, options: ReturnType<typeof reader>, passphrase: string) {
  const { pbkdf } = await import('bcrypt-pbkdf'); // loaded only for keys with a passphrase
  const [salt, rounds] = [options.string(), options.number()];
  if (rounds > mostRounds) throw new UnusableKey('The passphrase of the key takes too long to check in a browser.');
  const password = new TextEncoder().encode(passphrase);
  const made = new Uint8Array(length + 16);
  pbkdf(password, password.length, salt, salt.length, made, made.length, rounds);
  const key = await crypto.subtle.importKey('raw', made.subarray(0, length), 'AES-CTR', false, ['decrypt']);
  const counter = { name: 'AES-CTR', counter: made.subarray(length), length: 128 };
  return new Uint8Array(await crypto.subtle.decrypt(counter, key, secret));
}

function keyIn(secret: Bytes): Jwk {
  const part = reader(secret);
  if (part.number() !== part.number()) throw new NeedsPassphrase('The passphrase is wrong.');
  const type = toLatin1(part.string());
  if (type === 'ssh-ed25519') {
    const x = toBase64Url(part.string());
    return { kty: 'OKP', crv: 'Ed25519', x, d: toBase64Url(part.string().subarray(0, 32)) };
  }
  if (type.startsWith('ecdsa-sha2-')) {
    const [curve, point] = [toLatin1(part.string()), part.string().subarray(1)];
    const half = point.length / 2;
    const d = new Uint8Array(half);
    const given = stripped(part.string());
    d.set(given, half - given.length);
    const coordinates = { x: toBase64Url(point.subarray(0, half)), y: toBase64Url(point.subarray(half)) };
    return { kty: 'EC', crv: curve.replace('nistp', 'P-'), ...coordinates, d: toBase64Url(d) };
  }
  if (type !== 'ssh-rsa')
    throw new UnusableKey(`The browser cannot sign with a key of the type ${type}. Choose Ed25519, ECDSA or RSA.`);
  const numbers = Array.from({ length: 6 }, () => stripped(part.string()));
  const [n, e, d, qi, p, q] = numbers.map(toBase64Url);
  const [, , exponent, , one, other] = numbers.map(unsigned);
  const remainder = (prime = 2n) => toBase64Url(fromHex(((exponent ?? 0n) % (prime - 1n)).toString(16)));
  return { kty: 'RSA', n, e, d, qi, p, q, dp: remainder(one), dq: remainder(other) } as Jwk;
}

/** Returns a reader of numbers and strings as SSH writes them (RFC 4251, section 5). */
function reader(bytes: Bytes) {
  let at = 0;
  const take = (length: number) => {
    if (at + length > bytes.length) throw new UnusableKey('The file of the key is cut off.');
    return bytes.subarray(at, (at += length));
  };
  const number = () => take(4).reduce((sum, byte) => sum * 256 + byte, 0);
  return { take, number, string: () => take(number()) };
}

function stripped(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(bytes.findIndex((byte) => byte !== 0));
}
