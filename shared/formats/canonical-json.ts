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
