import { type Bytes, derElements, fromHex } from 'computation-management-formats/bytes';

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

/** An element of a DER encoding: its tag, its content, and all of its bytes. */
export type Element = ReturnType<typeof derElements<Bytes>>[number];

/** The tag bytes of DER, by the kinds of elements that certificates and revocation lists consist of. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utcTime: 0x17,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/**
 * Reads a sequence of DER elements that fills the given bytes completely. What this package does not use is not looked into, such as names beside the
 * common name: it is signed, and compared byte for byte where it matters.
 * @throws Refusal if the bytes are not DER
 */
export function elements(bytes: Bytes): Element[] {
  const found = derElements(bytes, Infinity);
  const length = found.reduce((sum, each) => sum + each.bytes.length, 0);
  demand(length === bytes.length, 'its DER is cut off, or has a length that is not definite or not the shortest');
  demand(!found.some(({ tag }) => (tag & 0x1f) === 0x1f), 'its DER has a tag of several bytes');
  return found;
}

/**
 * Reads the only DER element in the given bytes.
 * @throws Refusal if there are several elements, or the element has another tag than `tag`
 */
export function element(bytes: Bytes, tag: number): Element {
  const [first, ...others] = elements(bytes);
  demand(first?.tag === tag && others.length === 0, `its DER is not one element of type ${tag}`);
  return first;
}

/**
 * Returns the elements that a DER sequence (or, by `tag`, a set) consists of.
 * @throws Refusal if the bytes are another element
 */
export const parts = (bytes: Bytes, tag: number = tags.sequence): Element[] => elements(element(bytes, tag).content);

/**
 * Removes and returns the first DER element of a queue.
 * @throws Refusal if the element has another tag than `tag`, or the queue is empty
 */
export function take(queue: Element[], tag: number): Element {
  const next = queue.shift();
  demand(next?.tag === tag, `its DER has no element of type ${tag} where there should be one`);
  return next;
}

/**
 * Reads an object identifier from a DER element, in dotted form such as `2.5.4.3`.
 * @throws Refusal if the element is of another kind
 */
export function oid({ tag, content }: Element): string {
  demand(tag === tags.oid && content.length > 0, 'its DER has no object identifier where there should be one');
  const arcs: number[] = [0];
  for (const byte of content) {
    arcs.push((arcs.pop() ?? 0) * 128 + (byte & 0x7f));
    if (byte < 0x80) arcs.push(0);
  }
  const [first = 0, ...rest] = arcs.slice(0, -1);
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...rest].join('.');
}

/**
 * Reads an integer from its DER: not negative, and of up to five bytes (below 2^39).
 * @throws Refusal if the element is of another kind, or the integer is negative or larger
 */
export function smallInteger(bytes: Bytes): number {
  const { content } = element(bytes, tags.integer);
  const isSmall = content.length >= 1 && content.length <= 5 && (content[0] ?? 0) < 0x80;
  demand(isSmall, 'its DER has a number that is negative or too large');
  const isShortest = content.length === 1 || content[0] !== 0 || (content[1] ?? 0) >= 0x80;
  demand(isShortest, 'its DER has a number that is not in its shortest form');
  return content.reduce((number, byte) => number * 256 + byte, 0);
}

/** Returns the bytes of a DER bit string. @throws Refusal if the number of bits is not a multiple of eight */
export function bitString({ content }: Element): Bytes {
  demand(content[0] === 0, 'its DER has bits that are not whole bytes');
  return content.slice(1);
}

/**
 * Reads a DER element of type UTCTime or GeneralizedTime, in the form of RFC 5280.
 * @throws Refusal if the element is of another kind, or the time does not exist, such as one on February 30
 */
export function time({ tag, content }: Element): Date {
  const text = new TextDecoder('latin1').decode(content);
  const century = Number(text.slice(0, 2)) < 50 ? '20' : '19';
  const digits = tag === tags.utcTime ? century + text : text;
  const iso = digits.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z');
  const date = new Date(iso);
  const exists = iso !== digits && date.toJSON() === iso;
  demand((tag === tags.utcTime || tag === tags.time) && exists, 'its DER has no time');
  return date;
}
