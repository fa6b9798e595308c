import { gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** Compressed text in base64, in compressed text, and so on. */
const deepest = 3;

/** Also in the form for URLs. */
const base64Run = /[\w+/-]{12,}={0,2}/g;

/**
 * Whether bytes contain a text: as it is or in base64, wherever in a longer text it stands, or in what they contain deflated or
 * gzipped. Compressed bytes are found if they are all of `bytes`, or stand in base64.
 * @param dictionaries with which JSON may be deflated
 */
export function holdsText(bytes: Uint8Array, text: string, dictionaries: readonly Uint8Array[] = [], depth = 0): boolean {
  const content = Buffer.from(bytes);
  if (formsOf(text).some((form) => content.includes(form))) return true;
  if (depth === deepest) return false;
  const inside = [content, ...(content.toString('latin1').match(base64Run) ?? []).map((run) => Buffer.from(run, 'base64'))];
  return inside
    .flatMap((compressed) => inflated(compressed, dictionaries))
    .some((each) => holdsText(each, text, dictionaries, depth + 1));
}

/** Returns a text and what its base64 contains, wherever in a longer text it stands. */
export function formsOf(text: string): string[] {
  const encoded = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), Buffer.from(text)])
      .toString('base64')
      .slice(4, -4),
  );
  return [text, ...encoded];
}

/** Returns what bytes contain if they are compressed, in each way in which they can be read. */
export function inflated(bytes: Buffer, dictionaries: readonly Uint8Array[]): Buffer[] {
  const inflates = isZlib(bytes) ? [inflateRawSync, inflateSync] : [inflateRawSync];
  const plain = (isGzip(bytes) ? [gunzipSync, ...inflates] : inflates).flatMap((inflate) => unlessItFails(() => inflate(bytes)));
  const byDictionary = dictionaries.flatMap((dictionary) =>
    inflates.flatMap((inflate) => unlessItFails(() => inflate(bytes, { dictionary }))),
  );
  // Bytes that mean something else may happen to copy a piece of a dictionary.
  return [...plain, ...byDictionary.filter(isJson)];
}

/** Whether bytes begin as RFC 1952 says. */
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Whether bytes begin as RFC 1950 says: with the method deflate, and a checksum of the first two bytes. */
function isZlib(bytes: Buffer): boolean {
  return bytes.length > 1 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}

function unlessItFails(inflate: () => Buffer): Buffer[] {
  try {
    return [inflate()];
  } catch {
    return []; // not compressed in this way
  }
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
