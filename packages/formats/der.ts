import { type Bytes, fromHex, isEqual, toHex } from './bytes.ts';

/** X.690. Stops at what is none, or is BER and not DER: other readers would find other elements there. */
export function derElements<Bytes extends Uint8Array>(bytes: Bytes, most = 2): { tag: number; content: Bytes }[] {
  const [tag, first = 0] = bytes;
  if (tag === undefined || most === 0) return [];
  const count = first < 0x80 ? 0 : first - 0x80;
  if (count > 4 || bytes.length < 2 + count) return [];
  const start = 2 + count;
  const length = count === 0 ? first : bytes.subarray(2, start).reduce((sum, byte) => sum * 256 + byte, 0);
  const end = start + length;
  const isShortest = first < 0x80 || (length >= 0x80 && bytes[2] !== 0);
  if (!isShortest || end > bytes.length) return [];
  const [content, rest] = [bytes.subarray(start, end) as Bytes, bytes.subarray(end) as Bytes];
  return [{ tag, content }, ...derElements(rest, most - 1)];
}

export function derElement(tag: number, ...parts: Iterable<number>[]): Bytes {
  const content = parts.flatMap((part) => [...part]);
  const digits = fromHex(content.length.toString(16));
  return Uint8Array.of(tag, ...(content.length < 0x80 ? digits : [0x80 + digits.length, ...digits]), ...content);
}

/** @param number not negative */
export function derInteger(number: bigint): Bytes {
  const digits = fromHex(number.toString(16));
  return derElement(0x02, (digits[0] ?? 0) >= 0x80 ? [0] : [], digits);
}

export const unsigned = (bytes: Uint8Array) => BigInt(`0x${toHex(bytes) || '0'}`);

/**
 * From two integers in DER to one after the other, as WebCrypto and ES256 have them (RFC 3279, section 2.2.3).
 * @param size of each integer, in bytes. Default: that of ES256
 * @throws Error if the bytes are no two such integers, or written in another way
 */
export function joinedSignature(der: Uint8Array, size = 32): Bytes {
  const numbers = derElements(derElements(der)[0]?.content ?? der).map(({ content }) => unsigned(content));
  const digits = numbers.map((number) => number.toString(16).padStart(2 * size, '0'));
  if (digits.length !== 2 || digits.some(({ length }) => length > 2 * size) || !isEqual(der, signatureInDer(numbers)))
    throw new Error(`The signature is not the DER form of two integers of up to ${size} bytes.`);
  return fromHex(digits.join(''));
}

export const signatureInDer = (numbers: readonly bigint[]) => derElement(0x30, ...numbers.map(derInteger));
