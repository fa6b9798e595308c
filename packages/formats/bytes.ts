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
