import { type Bytes, fromHex } from 'computation-management-formats/bytes';

export { type Bytes, isEqual, toHex } from 'computation-management-formats/bytes';

/** The error by which a check refuses evidence. Its message becomes the detail of the failing check. */
export class Refusal extends Error {}

/** Refuses the evidence unless a fact is true. @throws Refusal with the reason */
export function demand(fact: boolean, reason: string): asserts fact {
  if (!fact) throw new Refusal(reason);
}

/**
 * Decodes hexadecimal digits.
 * @param what names the text in the reason
 * @throws Refusal if the text has other characters, an odd length, or is no text
 */
export function bytesOfHex(text: unknown, what: string): Bytes {
  demand(typeof text === 'string' && /^([\da-f]{2})*$/i.test(text), `${what} is not hexadecimal`);
  return fromHex(text);
}

/**
 * Decodes base64 or base64url, with or without padding.
 * @param what names the text in the reason
 * @throws Refusal if the text is not base64
 */
export function bytesOfBase64(text: string, what: string): Bytes {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  demand(/^[\w+/]*$/.test(standard) && standard.length % 4 !== 1, `${what} is not base64`);
  return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0));
}

/** Returns whether all of the given bytes are zero. */
export const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

/** Joins byte arrays into one, in the order given. */
export const concatenate = (...parts: Uint8Array[]): Bytes => Uint8Array.from(parts.flatMap((part) => [...part]));

/** Returns a copy of `length` bytes that begin at the position `at`. @throws Refusal if the array ends before */
export function slice(bytes: Bytes, at: number, length: number): Bytes {
  demand(at + length <= bytes.length, `it ends after ${bytes.length} bytes, where ${at + length} are needed`);
  return bytes.slice(at, at + length);
}

/** Reads a number of up to 6 bytes at the position `at`, the lowest byte first. @throws Refusal if the array ends before */
export const littleEndian = (bytes: Bytes, at: number, length: number): number =>
  slice(bytes, at, length).reduceRight((number, byte) => number * 256 + byte, 0);

/** Reads bytes one part after the other, from a place on. Numbers are little-endian. */
export function reader(bytes: Bytes, start = 0) {
  let at = start;
  const take = (length: number): Bytes => {
    at += length;
    return slice(bytes, at - length, length);
  };
  return { take, number: (length: number) => littleEndian(take(length), 0, length), at: () => at };
}

/** Returns the SHA-256, SHA-384 or SHA-512 of bytes. */
export const sha = async (bits: 256 | 384 | 512, bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest(`SHA-${bits}`, bytes));

/** Quotes the first 80 characters of a text on one line, with `?` for all but printable ASCII. */
export function quote(text: unknown): string {
  const plain = String(text).slice(0, 80);
  return JSON.stringify(plain).replaceAll(/[^\x20-\x7e]/g, '?');
}
