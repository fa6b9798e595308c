import { passesForPrime } from '#primitives';
import {
  type Bytes,
  derElement,
  derElements,
  derInteger,
  fromBase64,
  fromHex,
  isEqual,
  toHex,
  toLatin1,
  unsigned,
} from './bytes.ts';
import { holdsPrivateKey } from './holds-private-key.ts';
import { fingerprintOfSpki, sshWireOf } from './ssh-wire.ts';

export interface PublicKey {
  /** The public key as DER SubjectPublicKeyInfo, the form that the agent reads (Go's x509.ParsePKIXPublicKey). */
  spki: Bytes;
  /**
   * The fingerprint of the key, `SHA256:` and 43 characters, as `ssh-keygen -lf` prints it. The same for every form of the key.
   */
  fingerprint: string;
  algorithm: 'rsa' | 'ecdsa' | 'ed25519';
}

/** The numbers that a public key consists of, as they were read. Nothing about them is checked. */
export type RawKey =
  | { algorithm: 'rsa'; modulus: bigint; exponent: bigint }
  | { algorithm: 'ecdsa'; curve: Curve; point: Uint8Array }
  | { algorithm: 'ed25519'; point: Uint8Array };

const minRsaBits = 2048;
/** The longest modulus of an RSA key that is accepted, in bits. Go's TLS takes no longer one. */
const maxRsaBits = 8_192;
const maxCharacters = 16_384;

const expected =
  'Expected one public key: an OpenSSH line such as "ssh-ed25519 AAAA...", or the base64 of an OpenSSH, PEM ("BEGIN PUBLIC KEY") or DER file; ' +
  `RSA (${minRsaBits} to ${maxRsaBits} bits), ECDSA (P-256, P-384, P-521) or Ed25519.`;
const privateKeySent = 'This is a private key. Never share it. Send its public key. ';
const certificateSent = 'This is a certificate. Send the public key in it. ';
const opensshCertificateSent =
  'This is an OpenSSH certificate. Send the public key that it certifies, such as id_ed25519.pub and not id_ed25519-cert.pub.';

/**
 * Matches a public key as a line of OpenSSH: the type, the key in base64, perhaps a comment. Every type has a hyphen in its name,
 * which base64 never has.
 */
const opensshLine = /^(?=[^ \t-]*-)([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t][^\r\n]*)?$/;

/**
 * Reads a public key: an OpenSSH line as it is; or the base64 (RFC 4648, section 4; line breaks allowed) of such a line, of its
 * decoded `AAAA...` part, of PEM (`PUBLIC KEY`, `RSA PUBLIC KEY`) or of the DER of either. Accepts the keys of docs/contract.md,
 * section 4. The fingerprint is that of SSH, the SHA-256 of the key's wire form: users see it by `ssh-keygen -lf id_ed25519.pub`,
 * for PEM after `ssh-keygen -i -m PKCS8 -f key.pem > key.pub`.
 * @throws InvalidKeyError for any other text, and for more than 16,384 characters. Private keys and certificates have a message
 *   of their own.
 */
export function parsePublicKey(given: string): PublicKey {
  if (given.length > maxCharacters) throw new InvalidKeyError(expected);
  refusePrivateKey(given);
  const asItIs = opensshLine.exec(given.trim());
  if (asItIs) return fromSshLine(asItIs[1] ?? '', asItIs[2] ?? '');
  const bytes = decode(given.replace(/\s/g, ''));
  const text = toLatin1(bytes).trim();
  refusePrivateKey(text);
  if (text.startsWith('-----BEGIN')) return fromDer(unarmoured(text));
  if (text.startsWith('\0')) return fromSshWire(bytes);
  const line = opensshLine.exec(text);
  return line ? fromSshLine(line[1] ?? '', line[2] ?? '') : fromDer(bytes);
}

function refusePrivateKey(text: string): void {
  if (holdsPrivateKey(text)) throw new InvalidKeyError(privateKeySent + expected); // defence
}

function decode(base64: string): Bytes {
  const bytes = fromBase64(base64);
  if (!bytes) throw new InvalidKeyError(expected);
  return bytes;
}

function unarmoured(pem: string): Bytes {
  const [, label = '', body = '', endLabel] = /^-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END ([A-Z0-9 ]+)-----$/.exec(pem) ?? [];
  if (label.endsWith('CERTIFICATE')) throw new InvalidKeyError(certificateSent + expected);
  if (!['PUBLIC KEY', 'RSA PUBLIC KEY'].includes(label) || endLabel !== label) throw new InvalidKeyError(expected);
  return decode(body.replace(/\s/g, ''));
}

function fromSshLine(type: string, base64: string): PublicKey {
  const blob = decode(base64);
  const named = toLatin1(blob.subarray(4)).startsWith(`${type}\0`);
  if (!named) throw new InvalidKeyError('The type at the start of the line differs from the type of the OpenSSH key.');
  return fromSshWire(blob);
}

function fromSshWire(blob: Bytes): PublicKey {
  const raw = keyInSshWire(blob);
  refuseUnfit(raw);
  const spki = spkiOf(raw);
  if (!spki) throw new InvalidKeyError('The OpenSSH key is not a valid key of its type.');
  const publicKey = described(raw, spki);
  if (!isEqual(sshWireOf(spki), blob))
    throw new InvalidKeyError('The OpenSSH key is not encoded as in RFC 4253, or has extra bytes at its end.');
  return publicKey;
}

function fromDer(der: Bytes): PublicKey {
  if (certificateDer.test(toLatin1(der))) throw new InvalidKeyError(certificateSent + expected);
  const raw = keyInSpki(der);
  if (raw) refuseUnfit(raw);
  const spki = raw && spkiOf(raw);
  // Compare the bytes, because there may be others after a key. A PKCS#1 key is the tail of its SubjectPublicKeyInfo.
  const isWhole = spki && [spki, spkiOf(raw, 'as it is')].some((again) => again && isEqual(again.subarray(-der.length), der));
  if (!isWhole) throw new InvalidKeyError(expected);
  return described(raw, spki);
}

/**
 * Matches the beginning of a certificate, or of a request for one, in DER as a text with one character for each byte: its first
 * part begins with a version or a number, that of a public key with a name.
 */
const certificateDer = /^0(?:[\x00-\x7f]|\x81.|\x82..|\x83...)0(?:[\x00-\x7f]|\x81.|\x82..|\x83...)[\xa0\x02]/s;

const none = new Uint8Array();

/**
 * Returns the numbers of a public key in DER. Undefined for other kinds of keys.
 * @param der the key as SubjectPublicKeyInfo or in PKCS#1
 */
export const keyInSpki = (der: Uint8Array) => keyIn(derElements(der)[0]?.content);

/**
 * Returns a public key in DER in its one encoding: points are not compressed, and curves are named. Undefined for other kinds of keys.
 * @param der the key as SubjectPublicKeyInfo
 */
export function canonicalSpki(der: Uint8Array): Uint8Array | undefined {
  const raw = keyInSpki(der);
  return raw && spkiOf(raw);
}

/**
 * Returns the numbers of a public key. Undefined for other kinds of keys.
 * @param content the content of the DER sequence that a SubjectPublicKeyInfo or a key in PKCS#1 consists of
 */
export function keyIn(content: Uint8Array = none): RawKey | undefined {
  const [first, second] = derElements(content);
  const key = second?.content.subarray(1) ?? none;
  if (first?.tag === 0x02) return rsaOf(first.content, second?.content);
  const name = toHex(first?.content ?? none);
  if (name === ed25519Name) return { algorithm: 'ed25519', point: key };
  const curve = curves.find(({ oid }) => name === ecdsaName + oid);
  if (curve) return { algorithm: 'ecdsa', curve, point: key };
  if (!name.startsWith(rsaName.slice(0, -2))) return undefined; // also RSA-PSS, of certificates
  const [modulus, exponent] = derElements(derElements(key)[0]?.content ?? none);
  return rsaOf(modulus?.content, exponent?.content);
}

function rsaOf(modulus: Uint8Array = none, exponent: Uint8Array = none): RawKey {
  return { algorithm: 'rsa', modulus: unsigned(modulus), exponent: unsigned(exponent) };
}

function refuseUnfit(raw: RawKey): void {
  const why = whyWeak(raw);
  if (why !== undefined) throw new InvalidKeyError(`${why} ${expected}`); // defence
  if (raw.algorithm === 'ed25519' && !isOnCurve(raw.point)) throw new InvalidKeyError(expected);
}

/**
 * Says why a public key must not be used: anyone could sign with it, or it has too few or too many bits. Undefined if it is
 * sound. The checks are not left to libraries, which differ.
 */
export function whyWeak(raw: RawKey | undefined): string | undefined {
  const { length } = raw?.algorithm === 'rsa' ? raw.modulus.toString(2) : { length: minRsaBits };
  if (length < minRsaBits || length > maxRsaBits) {
    return `The RSA key has ${length} bits. Expected ${minRsaBits} to ${maxRsaBits}.`;
  }
  // Go's crypto/rsa supports odd exponents of up to 31 bits. With an exponent of 1 anyone could sign.
  if (raw?.algorithm === 'rsa' && (raw.exponent < 3n || raw.exponent % 2n === 0n || raw.exponent >= 2n ** 31n)) {
    return 'The RSA key has an unusual public exponent. Expected an odd exponent of up to 31 bits, usually 65537.';
  }
  const why =
    raw?.algorithm === 'ed25519' ? whyWeakPoint(raw.point) : raw?.algorithm === 'rsa' ? whyWeakModulus(raw.modulus) : undefined;
  return why && `${why} Anyone could sign with this key. Create another one.`;
}

const prime = 2n ** 255n - 19n;
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

const yOf = (point: Uint8Array) => unsigned(point.toReversed()) & (2n ** 255n - 1n);

/**
 * Returns whether the encoding of an Ed25519 key is a point on the curve: whether x² = (y² - 1) / (dy² + 1) has a root (RFC 8032,
 * section 5.1.3). OpenSSL and Go find out only when they verify a signature.
 */
function isOnCurve(point: Uint8Array): boolean {
  const squared = yOf(point) ** 2n % prime;
  return power((squared - 1n) * (d * squared + 1n), (prime - 1n) / 2n, prime) === 1n;
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [square, result] = [base % modulus, 1n];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = square ** 2n % modulus;
  }
  return result;
}

/**
 * Says why an Ed25519 key is weak: its point is of small order, or not encoded as in RFC 8032, section 5.1.3. Undefined if it is
 * sound.
 */
function whyWeakPoint(point: Uint8Array): string | undefined {
  if (point.length !== 32) return undefined;
  const y = yOf(point);
  if (y >= prime) return 'The Ed25519 key is not encoded as RFC 8032 says.'; // defence
  const squared = (y * y) % prime;
  const isOfOrder8 = (d * squared * squared + 2n * squared - 1n) % prime === 0n;
  return y === 0n || squared === 1n || isOfOrder8 ? 'The Ed25519 key is a point of small order.' : undefined;
}

const firstUntried = 2 ** 16 + 2;
let products: bigint[] | undefined;

/**
 * Returns the products of four odd primes each, of all primes below `firstUntried`, to find small factors of a modulus: a
 * remainder of a product takes as long as that of one prime.
 */
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

const greatestCommonDivisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : greatestCommonDivisor(b, a % b));

/**
 * The last modulus of an RSA key, and why it is weak, to check it once: the files of a party come with the same key, and a check
 * of 8,192 bits takes a tenth of a second.
 */
let last: { modulus: bigint; why: string | undefined } | undefined;

function whyWeakModulus(modulus: bigint): string | undefined {
  if (modulus !== last?.modulus) last = { modulus, why: weaknessOf(modulus) };
  return last.why;
}

function weaknessOf(modulus: bigint): string | undefined {
  if (modulus % 2n === 0n) return 'The modulus of the RSA key is even.'; // defence
  products ??= productsOfPrimes();
  for (const product of products) {
    if (greatestCommonDivisor(product, modulus % product) !== 1n) return 'The modulus of the RSA key has a small factor.';
  }
  if (isNearlySquare(modulus)) return 'The modulus of the RSA key is a square, or its factors are close to each other.';
  if (passesForPrime(modulus)) return 'The modulus of the RSA key is a prime.';
  return undefined;
}

/**
 * Returns whether a modulus is a square, or its factors are close to each other: tries Fermat's factorization a hundred times,
 * which takes hardly any time.
 */
function isNearlySquare(modulus: bigint): boolean {
  const least = squareRoot(modulus - 1n) + 1n;
  const rests = Array.from({ length: 100 }, (_, more) => (least + BigInt(more)) ** 2n - modulus);
  return rests.some((rest) => rest === 0n || squareRoot(rest) ** 2n === rest);
}

/** Returns the square root of an integer, rounded down, by Newton's method. */
function squareRoot(value: bigint): bigint {
  let root = 2n ** BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

function described(raw: RawKey, spki: Bytes): PublicKey {
  return { spki, fingerprint: fingerprintOfSpki(spki), algorithm: raw.algorithm };
}

const bOf256 = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
const bOf384 = 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn;
const bOf521 =
  0x51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n;
const ed25519Name = '06032b6570';
const ecdsaName = '06072a8648ce3d0201';
const rsaName = '06092a864886f70d010101';

type Curve = (typeof curves)[number];

/** The elliptic curves of ECDSA keys that are accepted (NIST SP 800-186): y² = x³ - 3x + b modulo p, which is 3 modulo 4. */
const curves = [
  { bits: 256, oid: '06082a8648ce3d030107', p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n, b: bOf256 },
  { bits: 384, oid: '06052b81040022', p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n, b: bOf384 },
  { bits: 521, oid: '06052b81040023', p: 2n ** 521n - 1n, b: bOf521 },
].map(({ bits, ...curve }) => ({ name: `P-${bits}`, ssh: `nistp${bits}`, size: Math.ceil(bits / 8), ...curve }));
const uncompressedPoint = 0x04;

/**
 * Returns the coordinates of an encoded point of an elliptic curve, compressed or not (SEC 1, section 2.3.4).
 * @returns undefined if the bytes are not a point of the curve
 */
function coordinatesOf(point: Uint8Array, { size, p, b }: Curve): [bigint, bigint] | undefined {
  const [form = 0, ...digits] = point;
  const x = unsigned(point.subarray(1, 1 + size));
  const squared = (x ** 3n - 3n * x + b) % p;
  const isCompressed = digits.length === size && (form === 0x02 || form === 0x03);
  if (x >= p || !(isCompressed || (digits.length === 2 * size && form === uncompressedPoint))) return undefined;
  const root = isCompressed ? power(squared, (p + 1n) / 4n, p) : unsigned(point.subarray(1 + size));
  const y = isCompressed && root % 2n !== BigInt(form % 2) ? p - root : root;
  return y < p && y ** 2n % p === squared ? [x, y] : undefined;
}

/**
 * Encodes a public key as DER SubjectPublicKeyInfo. Compressed points become uncompressed, as Go needs them, unless `points` says
 * to keep them.
 * @returns undefined if the numbers are no key
 */
function spkiOf(raw: RawKey, points?: 'as it is'): Bytes | undefined {
  const spki = (algorithm: string, ...bits: Iterable<number>[]) =>
    derElement(0x30, derElement(0x30, fromHex(algorithm)), derElement(0x03, [0], ...bits));
  if (raw.algorithm === 'ed25519') return raw.point.length === 32 ? spki(ed25519Name, raw.point) : undefined;
  if (raw.algorithm === 'rsa') return spki(`${rsaName}0500`, derElement(0x30, derInteger(raw.modulus), derInteger(raw.exponent)));
  const { curve, point } = raw;
  const coordinates = coordinatesOf(point, curve);
  if (!coordinates) return undefined;
  const digits = coordinates.map((each) => fromHex(each.toString(16).padStart(2 * curve.size, '0')));
  return points ? spki(ecdsaName + curve.oid, point) : spki(ecdsaName + curve.oid, [uncompressedPoint], ...digits);
}

/**
 * Reads the numbers of a public key in the wire form of SSH (RFC 4253, section 6.6; RFC 5656, section 3.1; RFC 8709, section 4).
 * The caller compares the blob with `sshWireOf` to find extra bytes. This is own code, because npm packages that read all of
 * these types add 130 KB (ssh2) and 190 KB (sshpk) to every bundle.
 * @throws InvalidKeyError for other types, such as certificates and keys of hardware tokens, and for broken blobs
 */
function keyInSshWire(blob: Bytes): RawKey {
  if (/^[a-z0-9-]+-cert-/.test(toLatin1(blob.subarray(4, 64)))) throw new InvalidKeyError(opensshCertificateSent);
  const [typeName = none, first, second] = readStrings(blob);
  const type = toLatin1(typeName);
  if (type === 'ssh-ed25519' && first) return { algorithm: 'ed25519', point: first };
  if (type === 'ssh-rsa' && first && second) return rsaOf(second, first);
  const curve = curves.find(({ ssh }) => type === `ecdsa-sha2-${ssh}`);
  if (curve && second?.[0] === uncompressedPoint) return { algorithm: 'ecdsa', curve, point: second };
  throw new InvalidKeyError('An OpenSSH key must be of type ssh-rsa, ecdsa-sha2-nistp256, -nistp384, -nistp521 or ssh-ed25519.');
}

function readStrings(blob: Bytes): Bytes[] {
  const strings: Bytes[] = [];
  const numbers = new DataView(blob.buffer, blob.byteOffset, blob.length);
  for (let start = 0; start < blob.length;) {
    const begin = start + 4;
    const end = begin <= blob.length ? begin + numbers.getUint32(start) : Infinity;
    if (end > blob.length) throw new InvalidKeyError('The OpenSSH key is cut off or broken.');
    strings.push(blob.subarray(begin, end));
    start = end;
  }
  return strings;
}

/**
 * The error for a text that is not a public key that the service takes. Its message is for users: it says what was expected,
 * never what was sent.
 */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}
