import { type Bytes, demand } from './bytes.ts';

export interface Element {
  tag: number;
  /** All of it, with tag and length. */
  bytes: Bytes;
  content: Bytes;
}

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

/** @throws Refusal if they are not DER */
export function elements(bytes: Bytes): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const [tag = 0, first = 0] = bytes.subarray(at, at + 2);
    demand((tag & 0x1f) !== 0x1f, 'its DER has a tag of several bytes');
    const sizeOfLength = first < 0x80 ? 0 : first - 0x80;
    demand(sizeOfLength <= 3 && first !== 0x80, 'its DER has a length that is too long or not definite');
    const begin = at + 2 + sizeOfLength;
    const length = sizeOfLength === 0 ? first : bytes.subarray(at + 2, begin).reduce((sum, byte) => sum * 256 + byte, 0);
    demand(at + 2 <= bytes.length && begin + length <= bytes.length, 'its DER is cut off');
    demand(sizeOfLength === 0 || (bytes[at + 2] !== 0 && length >= 0x80), 'its DER has a length that is not the shortest');
    found.push({ tag, bytes: bytes.slice(at, begin + length), content: bytes.slice(begin, begin + length) });
    at = begin + length;
  }
  return found;
}

/** It must have this tag. */
export function element(bytes: Bytes, tag: number): Element {
  const [first, ...others] = elements(bytes);
  demand(first?.tag === tag && others.length === 0, `its DER is not one element of type ${tag}`);
  return first;
}

/** Returns the parts of a sequence or set. */
export function parts(bytes: Bytes, tag: number = tags.sequence): Element[] {
  return elements(element(bytes, tag).content);
}

/** It must have this tag. */
export function take(queue: Element[], tag: number): Element {
  const next = queue.shift();
  demand(next?.tag === tag, `its DER has no element of type ${tag} where there should be one`);
  return next;
}

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

/** 0 to 2^32 - 1. */
export function smallInteger(bytes: Bytes): number {
  const { content } = element(bytes, tags.integer);
  demand(
    content.length >= 1 && content.length <= 5 && (content[0] ?? 0) < 0x80,
    'its DER has a number that is negative or too large',
  );
  return content.reduce((number, byte) => number * 256 + byte, 0);
}

/** Of whole bytes. */
export function bitString({ content }: Element): Bytes {
  demand(content[0] === 0, 'its DER has bits that are not whole bytes');
  return content.slice(1);
}

/** UTCTime or GeneralizedTime, in the form of RFC 5280. */
export function time({ tag, content }: Element): Date {
  const text = new TextDecoder('latin1').decode(content);
  demand(tag === (text.length === 13 ? tags.utcTime : tags.time) && /^(\d{12}|\d{14})Z$/.test(text), 'its DER has no time');
  const century = Number(text.slice(0, 2)) < 50 ? '20' : '19';
  const [year, month, day, hour, minute, second] = (tag === tags.utcTime ? century + text : text).match(/^\d{4}|\d\d/g) ?? [];
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
