import { sha256 } from '#primitives';
import * as v from 'valibot';
import { base64Text } from './fields.ts';
import { canonicalJson } from './digests.ts';
import { type LoggedAct, loggedActs } from './vocabulary.ts';

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

/** The schema of `log` of a statement: the name of the log that has the run's entries, and the key that signs its checkpoints. */
export const statedLog = v.object({ origin: v.string(), vkey: v.string() });

/** The schema of `log` beside a statement: where the log has each entry of the run, and the proofs. Not signed: the proofs are. */
export const logProofs = v.object({
  entries: v.array(
    v.object({
      type: v.picklist(loggedActs),
      /** The place of the entry in the log, from 0. */
      index: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
      /** The salt of the entry: 16 bytes in base64. */
      salt: base64Text,
      /** The text of a C2SP tlog-proof. */
      proof: v.string(),
    }),
  ),
});
export type LogProofs = v.InferOutput<typeof logProofs>;
