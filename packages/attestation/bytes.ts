/** Bytes that WebCrypto accepts: not of a shared buffer. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Its message becomes the detail of the failing check. */
class Refusal extends Error {}

/** @throws Refusal with the reason */
export function demand(fact: boolean, reason: string): asserts fact {
  if (!fact) throw new Refusal(reason);
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function fromHex(text: unknown, what: string): Bytes {
  demand(typeof text === 'string' && /^([\da-f]{2})*$/i.test(text), `${what} is not hexadecimal`);
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function fromBase64(text: string, what: string): Bytes {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  demand(/^[\w+/]*$/.test(standard) && standard.length % 4 !== 1, `${what} is not base64`);
  const decoded = atob(standard);
  const bytes = new Uint8Array(decoded.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = decoded.charCodeAt(at);
  return bytes;
}

export function equal(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

export function concatenate(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @throws Refusal if there are fewer */
export function slice(bytes: Bytes, at: number, length: number): Bytes {
  demand(at + length <= bytes.length, `it ends after ${bytes.length} bytes, where ${at + length} are needed`);
  return bytes.slice(at, at + length);
}

/** Up to 6 bytes. */
export function littleEndian(bytes: Bytes, at: number, length: number): number {
  return slice(bytes, at, length).reduceRight((number, byte) => number * 256 + byte, 0);
}

export async function sha(bits: 256 | 384 | 512, bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest(`SHA-${bits}`, bytes));
}

/** On one line, without control characters, and not long. */
export function quote(text: unknown): string {
  const plain = String(text).slice(0, 80);
  return JSON.stringify(plain).replaceAll(/[^\x20-\x7e]/g, '?');
}
