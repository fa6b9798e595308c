import { createHash } from 'node:crypto';
import type { Configuration } from './approval-text.ts';
import { canonicalJson } from './canonical-json.ts';

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

/** What a statement says of the start of its run (docs/contract.md, section 10). */
interface StatedStart {
  manifest: object;
  configuration: Configuration;
  assets: unknown;
  approval: unknown;
  result_consumers: unknown;
  approvals: unknown;
}

/** Returns the digest by which the event `started` commits to what its run was started with. */
export function startDigest(started: StatedStart): string {
  const { manifest, configuration, assets, approval, result_consumers, approvals } = started;
  return canonicalDigest({ manifest, configuration, assets, approval, result_consumers, approvals });
}
