import { createHash } from 'node:crypto';

/**
 * Returns the strong entity tag of an answer: 192 bits of the SHA-256 of the JSON of its state. The fields must always be in the
 * same order.
 * @param notCompared the parts of the answer that If-Match ignores. Their hash follows after a dot
 */
export function etagOf(state: unknown, notCompared?: unknown): string {
  return notCompared === undefined ? `"${hashOf(state)}"` : `"${hashOf(state)}.${hashOf(notCompared)}"`;
}

function hashOf(shown: unknown): string {
  return createHash('sha256').update(JSON.stringify(shown)).digest().subarray(0, 24).toString('base64url');
}

/** Returns the entity tag of the state alone: without the part after the dot. */
export function etagOfState(etag: string): string {
  return etag.replace(/\..*$/s, '"');
}
