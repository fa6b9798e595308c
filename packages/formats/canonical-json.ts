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

/**
 * What a statement about a run says of its start (docs/contract.md, section 10). A field that is added inside must be absent for
 * earlier runs.
 */
interface StatedStart {
  manifest: object;
  /** Without the private key. */
  agent_config: object;
  assets: unknown;
  approvals: unknown;
  approval?: unknown;
  result_consumers?: unknown;
}

/** Returns the digest by which the event `started` commits to what its run was started with. */
export function startDigest({ manifest, agent_config, assets, approvals, approval, result_consumers }: StatedStart): string {
  return canonicalDigest({ manifest, agent_config, assets, approvals, approval, result_consumers });
}

/** Returns the digest of what an approval covers of the agent's configuration: all but its log level and its private key. */
export function configDigest({ log_level: _level, server_key: _key, ...covered }: Partial<Record<string, unknown>>): string {
  return canonicalDigest(covered);
}
