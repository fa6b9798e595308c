import { checkPrimeSync, createHash, createPublicKey, type KeyObject, type JsonWebKey } from 'node:crypto';
import { holdsPrivateKey } from './holds-private-key.ts';
import { derElements, sshWireOf } from './ssh-wire.ts';

export interface PublicKey {
  /** The form that the agent reads (Go's x509.ParsePKIXPublicKey). */
  spki: Buffer;
  /** `SHA256:` and 43 characters, as `ssh-keygen -lf` prints it, for every form of the key. */
  fingerprint: string;
  algorithm: 'rsa' | 'ecdsa' | 'ed25519';
}

const minRsaBits = 2048;
/** Go's TLS takes no more. */
const maxRsaBits = 8_192;
const maxCharacters = 16_384;

const expected =
  'Expected one public key: an OpenSSH line such as "ssh-ed25519 AAAA...", or the base64 of an OpenSSH, PEM ("BEGIN PUBLIC KEY") or DER file; ' +
  `RSA (${minRsaBits} to ${maxRsaBits} bits), ECDSA (P-256, P-384, P-521) or Ed25519.`;
const privateKeySent = 'This is a private key. Never share it. Send its public key. ';
const certificateSent = 'This is a certificate. Send the public key in it. ';
const opensshCertificateSent =
  'This is an OpenSSH certificate. Send the public key that it certifies, such as id_ed25519.pub and not id_ed25519-cert.pub.';

/** A line of OpenSSH. Every type of key has a hyphen in its name, which base64 never has. */
const opensshLine = /^(?=[^ \t-]*-)([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t][^\r\n]*)?$/;

/**
 * An OpenSSH line as it is; or the base64 (RFC 4648, section 4; line breaks allowed) of such a line, of its decoded `AAAA...`
 * part, of PEM (`PUBLIC KEY`, `RSA PUBLIC KEY`) or of the DER of either. It accepts the keys of docs/contract.md, section 4.
 * The fingerprint is that of SSH, the SHA-256 of the key's wire form: users see it by `ssh-keygen -lf id_ed25519.pub`, for PEM
 * after `ssh-keygen -i -m PKCS8 -f key.pem > key.pub`.
 * @throws InvalidKeyError for any other text, and for more than 16,384 characters. Private keys and certificates have their own
 *   message.
 */
export function parsePublicKey(given: string): PublicKey {
  if (given.length > maxCharacters) throw new InvalidKeyError(expected);
  refusePrivateKey(given);
  const asItIs = opensshLine.exec(given.trim());
  if (asItIs) return fromSshLine(asItIs[1] ?? '', asItIs[2] ?? '');
  const bytes = decode(given.replace(/\s/g, ''));
  const text = bytes.toString('latin1').trim();
  refusePrivateKey(text);
  if (text.startsWith('-----BEGIN')) return fromDer(unarmoured(text));
  if (text.startsWith('\0')) return fromSshWire(bytes);
  const line = opensshLine.exec(text);
  return line ? fromSshLine(line[1] ?? '', line[2] ?? '') : fromDer(bytes);
}

function refusePrivateKey(text: string): void {
  if (holdsPrivateKey(text)) throw new InvalidKeyError(privateKeySent + expected);
}

function decode(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) throw new InvalidKeyError(expected);
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
  refuseUnfit(jwk);
  const key = attempt(() => createPublicKey({ key: jwk, format: 'jwk' }));
  if (!key) throw new InvalidKeyError('The OpenSSH key is not a valid key of its type.');
  const { publicKey, wire } = fromKeyObject(key);
  if (!wire.equals(blob))
    throw new InvalidKeyError('The OpenSSH key is not encoded as in RFC 4253, or has extra bytes at its end.');
  return publicKey;
}

function fromDer(der: Buffer): PublicKey {
  if (certificateDer.test(der.toString('latin1'))) throw new InvalidKeyError(certificateSent + expected);
  refuseUnfit(weighableJwk(derElements(der)[0]?.content));
  for (const type of ['spki', 'pkcs1'] as const) {
    const key = attempt(() => createPublicKey({ key: der, format: 'der', type }));
    const again = key && attempt(() => key.export({ format: 'der', type: 'spki' }));
    // Compare the bytes, because OpenSSL ignores bytes after a key. A PKCS#1 key is the tail of its SubjectPublicKeyInfo.
    if (key && again?.subarray(-der.length).equals(der)) return fromKeyObject(key).publicKey;
  }
  throw new InvalidKeyError(expected);
}

/** The first part of a certificate, or of a request for one, begins with a version or a number, that of a public key with a name. */
const certificateDer = /^0(?:[\x00-\x7f]|\x81.|\x82..|\x83...)0(?:[\x00-\x7f]|\x81.|\x82..|\x83...)[\xa0\x02]/s;

/**
 * Reads what whyWeak looks at, before any library refuses it in words of its own.
 * @param content of the sequence that a SubjectPublicKeyInfo or a key in PKCS#1 is
 */
export function weighableJwk(content: Buffer = Buffer.alloc(0)): JsonWebKey {
  const [first, second] = derElements(content);
  if (first?.tag === 0x02) return { kty: 'RSA', n: unsigned(first.content) };
  const key = second?.content.subarray(1) ?? Buffer.alloc(0);
  if (first?.content.toString('hex') === '06032b6570') return { kty: 'OKP', x: key.toString('base64url') };
  const [modulus] = derElements(derElements(key)[0]?.content ?? Buffer.alloc(0));
  return first?.content.toString('hex').startsWith('06092a864886f70d010101')
    ? { kty: 'RSA', n: unsigned(modulus?.content ?? key) }
    : {};
}

function refuseUnfit(jwk: JsonWebKey): void {
  const { length } = jwk.kty === 'RSA' ? modulusOf(jwk).toString(2) : { length: minRsaBits };
  if (length < minRsaBits || length > maxRsaBits) throw new InvalidKeyError(expected);
  const why = whyWeak(jwk);
  if (why !== undefined) throw new InvalidKeyError(why);
  if (jwk.kty === 'OKP' && !isOnCurve(jwk)) throw new InvalidKeyError(expected);
}

/** Does not leave it to OpenSSL, whose versions differ. Takes no time for very long keys. */
export function whyWeak(jwk: JsonWebKey): string | undefined {
  const { kty, x = '' } = jwk;
  const why =
    kty === 'OKP' ? whyWeakPoint(Buffer.from(x, 'base64url')) : kty === 'RSA' ? whyWeakModulus(modulusOf(jwk)) : undefined;
  return why && `${why} Anyone could sign with this key. Create another one.`;
}

const modulusOf = ({ n = '' }: JsonWebKey) => BigInt(`0x${Buffer.from(n, 'base64url').toString('hex') || '0'}`);

const prime = 2n ** 255n - 19n;
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

const yOf = (point: Buffer) => BigInt(`0x${Buffer.from(point).reverse().toString('hex') || '0'}`) & (2n ** 255n - 1n);

/** RFC 8032, section 5.1.3: whether x² = (y² - 1) / (dy² + 1) has a root. OpenSSL and Go find that only when they verify. */
function isOnCurve({ x = '' }: JsonWebKey): boolean {
  const squared = yOf(Buffer.from(x, 'base64url')) ** 2n % prime;
  let [base, power] = [((squared - 1n) * (d * squared + 1n)) % prime, 1n];
  for (let exponent = (prime - 1n) / 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) power = (power * base) % prime;
    base = base ** 2n % prime;
  }
  return power === 1n;
}

/** RFC 8032, section 5.1.3. */
function whyWeakPoint(point: Buffer): string | undefined {
  if (point.length !== 32) return undefined;
  const y = yOf(point);
  if (y >= prime) return 'The Ed25519 key is not encoded as RFC 8032 says.';
  const squared = (y * y) % prime;
  const isOfOrder8 = (d * squared * squared + 2n * squared - 1n) % prime === 0n;
  return y === 0n || squared === 1n || isOfOrder8 ? 'The Ed25519 key is a point of small order.' : undefined;
}

const firstUntried = 2 ** 16 + 2;
let products: bigint[] | undefined;

/** Of four odd primes each, of all below `firstUntried`. A remainder of a product takes as long as that of a prime. */
function productsOfPrimes(): bigint[] {
  const isComposite = new Uint8Array(firstUntried);
  const primes: number[] = [];
  for (let number = 3; number < firstUntried; number += 2) {
    if (isComposite[number]) continue;
    primes.push(number);
    for (let multiple = number * number; multiple < firstUntried; multiple += number) isComposite[multiple] = 1;
  }
  const fours = Array.from({ length: Math.ceil(primes.length / 4) }, (_, index) => primes.slice(index * 4, index * 4 + 4));
  return fours.map((four) => four.reduce((product, prime) => product * BigInt(prime), 1n));
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b);
}

/** The last one that is not weak: the files of a party come with one key, and 8,192 bits take a tenth of a second. */
let sound: bigint | undefined;

function whyWeakModulus(modulus: bigint): string | undefined {
  if (modulus >> BigInt(maxRsaBits) || modulus === sound) return undefined;
  if (modulus % 2n === 0n) return 'The modulus of the RSA key is even.';
  products ??= productsOfPrimes();
  for (const product of products) {
    if (greatestCommonDivisor(product, modulus % product) !== 1n) return 'The modulus of the RSA key has a small factor.';
  }
  if (squareRoot(modulus) ** 2n === modulus) return 'The modulus of the RSA key is a square.';
  // A prime passes each round. With more rounds, one of 8,192 bits would take a quarter of a minute.
  if (checkPrimeSync(modulus, { checks: 1 })) return 'The modulus of the RSA key is a prime.';
  sound = modulus;
  return undefined;
}

/** Rounded down, by Newton's method. */
function squareRoot(value: bigint): bigint {
  let root = 2n ** BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** A JSON Web Key has only one form. Compressed points become uncompressed, as Go needs. */
function fromKeyObject(given: KeyObject): { publicKey: PublicKey; wire: Buffer } {
  const algorithm = algorithmOf(given);
  const jwk = given.export({ format: 'jwk' });
  const spki = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'der', type: 'spki' });
  const wire = Buffer.from(sshWireOf(spki));
  const fingerprint = `SHA256:${createHash('sha256').update(wire).digest('base64').replace(/=+$/, '')}`;
  return { publicKey: { spki, fingerprint, algorithm }, wire };
}

function algorithmOf(key: KeyObject): PublicKey['algorithm'] {
  const { publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ed25519') return 'ed25519';
  if (['prime256v1', 'secp384r1', 'secp521r1'].includes(namedCurve)) return 'ecdsa';
  if (key.asymmetricKeyType !== 'rsa') throw new InvalidKeyError(expected);
  // Go's crypto/rsa supports odd exponents of up to 31 bits. With an exponent of 1 anyone could sign.
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

const curves = [
  { crv: 'P-256', name: 'nistp256' },
  { crv: 'P-384', name: 'nistp384' },
  { crv: 'P-521', name: 'nistp521' },
];

const uncompressedPoint = 0x04;

/**
 * RFC 4253, section 6.6; RFC 5656, section 3.1; RFC 8709, section 4; to RFC 7518, RFC 8037. Only extracts the numbers. The caller
 * lets node:crypto check that they are a key, and compares the blob with `sshWireOf` to find extra bytes.
 * Own code, because npm packages that read all of these types add 130 KB (ssh2) and 190 KB (sshpk) to every bundle.
 * @throws InvalidKeyError for other types, such as certificates and keys of hardware tokens, and for broken blobs
 */
export function jwkOfSshWireKey(blob: Buffer): JsonWebKey {
  if (/^[a-z0-9-]+-cert-/.test(blob.toString('latin1', 4, 64))) throw new InvalidKeyError(opensshCertificateSent);
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

function unsigned(mpint: Buffer): string {
  return (mpint[0] === 0 ? mpint.subarray(1) : mpint).toString('base64url');
}

/** The message is for users: it says what was expected, never what was sent. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}
