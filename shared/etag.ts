import { createHash } from 'node:crypto';

/** Returns the strong entity tag of an answer: 192 bits of the SHA-256 of its JSON. The fields must always be in the same order. */
export function etagOf(shown: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(shown)).digest();
  return `"${hash.subarray(0, 24).toString('base64url')}"`;
}
