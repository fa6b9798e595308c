import canonicalize from 'canonicalize';
import { sha256, sha3 } from '#primitives';
import { toHex } from './bytes.ts';
import type { LoggedAct } from './vocabulary.ts';

/**
 * Returns the canonical JSON of a value (RFC 8785). Members that are undefined are left out, as in JSON.stringify.
 * @throws Error if a text has a lone surrogate, or a number is not finite
 */
export function canonicalJson(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('The value has no JSON form.');
  return text;
}

/** Returns the digest of a JSON value: the SHA3-256 of its canonical JSON, 64 hex digits. */
export const canonicalDigest = (value: object): string => toHex(sha3(canonicalJson(value)));

/**
 * Returns the hash of an event of the journal, in hex: the SHA-256 of the event as the API returns it, without its member `hash`
 * (docs/contract.md, section 10).
 * @throws Error if the event has no canonical JSON
 */
export function hashOfEvent(event: Readonly<Record<string, unknown>>): string {
  const { hash: _, ...hashed } = event;
  return toHex(sha256(canonicalJson(hashed)));
}

/** Returns the SHA-256 of bytes in hex. */
export const hashOfBytes = (bytes: Uint8Array) => toHex(sha256(bytes));

interface StatedStart extends Record<'assets' | 'approval' | 'result_consumers' | 'approvals', unknown> {
  manifest: object;
  configuration: object;
  /** The certificate of the CVM in PEM. Null if the CVM is registered without one, or not at all. */
  certificate: string | null;
}

/**
 * Returns the digest of everything that a run was started with. The details of the event `started` have it, so that the event
 * commits to these things.
 */
export function startDigest(started: StatedStart): string {
  const { manifest, configuration, assets, approval, result_consumers, approvals, certificate } = started;
  return canonicalDigest({ manifest, configuration, assets, approval, result_consumers, approvals, certificate });
}

/** The length of an entry's salt in bytes. */
export const lengthOfSalt = 16;

/** The name of an entry of the log, which has at most one for each. */
interface Logged {
  type: LoggedAct;
  domain: string;
  computation: string;
  run: string;
}

/** Returns the tag of an entry of the log, 32 bytes (docs/contract.md, section 10). A log has each tag once. */
export const logTag = ({ type, domain, computation, run }: Logged): Uint8Array =>
  sha256(canonicalJson({ type, domain, computation, run }));

/**
 * Returns an entry of the log, 64 bytes: the tag, then the SHA-256 of the salt and the canonical `{event_hash}`. Whoever does not
 * know the salt learns nothing from it.
 * @param entry.salt 16 random bytes
 * @param entry.event_hash the hash of the event, in hex, as the event itself has it
 */
export function logEntry({ tag, salt, event_hash }: { tag: Uint8Array; salt: Uint8Array; event_hash: string }): Uint8Array {
  const hashed = new TextEncoder().encode(canonicalJson({ event_hash }));
  return Uint8Array.of(...tag, ...sha256(Uint8Array.of(...salt, ...hashed)));
}
