import { createHash } from 'node:crypto';
import { canonicalJson } from '../canonical-json.ts';

/**
 * Returns the hash of an event, 64 hex digits: the SHA-256 of the canonical JSON of the event as the API returns it, with its
 * `previous_hash` and without its `hash` (docs/contract.md, section 10).
 * @throws Error if the event has no canonical JSON
 */
export function hashOfEvent(event: Readonly<Record<string, unknown>>): string {
  const { hash: _, ...hashed } = event;
  return createHash('sha256').update(canonicalJson(hashed)).digest('hex');
}
