import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * Returns the canonical JSON of a value (RFC 8785). Members without a value are left out, as in JSON.stringify.
 * @throws Error if a text has a lone surrogate, or a number is not finite
 */
export function canonicalJson(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('The value has no JSON form.');
  return text;
}

/** Returns the SHA3-256 of the canonical JSON of a value, 64 hex digits. */
export function canonicalDigest(value: object): string {
  return createHash('sha3-256').update(canonicalJson(value)).digest('hex');
}

/**
 * Returns the SHA-256, hex, of the canonical JSON of an event as the API returns it, without its `hash` (docs/contract.md, section 10).
 * @throws Error if the event has no canonical JSON
 */
export function hashOfEvent(event: Readonly<Record<string, unknown>>): string {
  const { hash: _, ...hashed } = event;
  return createHash('sha256').update(canonicalJson(hashed)).digest('hex');
}
