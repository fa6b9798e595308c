/** A byte array in memory of its own, as WebCrypto takes it. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Decodes base64. @returns undefined if the text is not base64 (RFC 4648, section 4), or not the only spelling of its bytes */
export function fromBase64(text: string): Bytes | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const decoded = atob(text);
  return btoa(decoded) === text ? Uint8Array.from(decoded, (character) => character.charCodeAt(0)) : undefined;
}

/**
 * Decodes the details of an event, a JSON object in base64. Returns an empty object for details of another form, as those of an
 * agent may be.
 */
export function detailsIn(base64: string): Record<string, unknown> {
  try {
    const details: unknown = JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(fromBase64(base64)));
    return typeof details === 'object' && details !== null && !Array.isArray(details) ? (details as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export const toBase64 = (bytes: Uint8Array) => btoa(toLatin1(bytes));

export const toBase64Url = (bytes: Uint8Array) => toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

/** Returns a text that has one character for each byte. */
export const toLatin1 = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

export const toHex = (bytes: Iterable<number>) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Decodes hexadecimal digits. @param digits any number of digits: an odd number of them gets a zero in front */
export function fromHex(digits: string): Bytes {
  const pairs = digits.padStart(digits.length + (digits.length % 2), '0').match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

export const isEqual = (one: Uint8Array, other: Uint8Array) =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);

/**
 * Reads DER elements (X.690) that follow each other. Stops at bytes that are no element, or are BER and not DER: other readers
 * would find other elements there.
 * @param most the most elements to read. Default 2
 * @returns for each element its tag, the bytes of its content, and `bytes`: all of it, with tag and length
 */
export function derElements<Bytes extends Uint8Array>(bytes: Bytes, most = 2) {
  const found: { tag: number; bytes: Bytes; content: Bytes }[] = [];
  const part = (from: number, to: number) => bytes.subarray(from, to) as Bytes;
  for (let at = 0; at < bytes.length && found.length < most;) {
    const [tag = 0, first = 0] = part(at, at + 2);
    const count = first < 0x80 ? 0 : first - 0x80;
    const start = at + 2 + count;
    const length = count === 0 ? first : part(at + 2, start).reduce((sum, byte) => sum * 256 + byte, 0);
    const isShortest = first < 0x80 || (length >= 0x80 && bytes[at + 2] !== 0);
    if (count > 4 || !isShortest || start + length > bytes.length) break;
    found.push({ tag, bytes: part(at, start + length), content: part(start, start + length) });
    at = start + length;
  }
  return found;
}

/** Encodes a DER element. @param parts the bytes of its content, one part after the other */
export function derElement(tag: number, ...parts: Iterable<number>[]): Bytes {
  const content = parts.flatMap((part) => [...part]);
  const digits = fromHex(content.length.toString(16));
  return Uint8Array.of(tag, ...(content.length < 0x80 ? digits : [0x80 + digits.length, ...digits]), ...content);
}

/** Encodes an integer as a DER element. @param number an integer from 0 */
export function derInteger(number: bigint): Bytes {
  const digits = fromHex(number.toString(16));
  return derElement(0x02, (digits[0] ?? 0) >= 0x80 ? [0] : [], digits);
}

/** Returns the integer that bytes encode, big-endian and without a sign. */
export const unsigned = (bytes: Uint8Array) => BigInt(`0x${toHex(bytes) || '0'}`);

/**
 * Converts a signature of two integers from DER to one integer after the other, as WebCrypto and ES256 have them (RFC 3279,
 * section 2.2.3).
 * @param size the bytes of each integer. Default 32, as in ES256
 * @throws Error if the bytes are not two such integers in DER
 */
export function joinedSignature(der: Uint8Array, size = 32): Bytes {
  const numbers = derElements(derElements(der)[0]?.content ?? der).map(({ content }) => unsigned(content));
  const digits = numbers.map((number) => number.toString(16).padStart(2 * size, '0'));
  if (digits.length !== 2 || digits.some(({ length }) => length > 2 * size) || !isEqual(der, signatureInDer(numbers)))
    throw new Error(`The signature is not the DER form of two integers of up to ${size} bytes.`);
  return fromHex(digits.join(''));
}

/** Encodes a signature of several integers as a DER sequence. */
export const signatureInDer = (numbers: readonly bigint[]) => derElement(0x30, ...numbers.map(derInteger));
