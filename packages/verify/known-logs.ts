import { toBase64, toHex } from 'computation-management-formats/bytes';
import { logTag } from 'computation-management-formats/digests';
import { type LoggedAct, loggedActs } from 'computation-management-formats/vocabulary';
import type { Checkpoint } from 'computation-management-transparency-log';

/** A log as a party has seen it: its name, the key that signs its checkpoints, and the newest one, a signed note. */
export interface SeenLog {
  origin: string;
  vkey: string;
  checkpoint: string;
}

/** The witnesses whose signatures the reader of evidence demands. */
export interface WitnessPolicy {
  /** The keys of the witnesses, each a `vkey`. */
  vkeys: readonly string[];
  /** The least number of them that must have signed the checkpoint. */
  needed: number;
}

/** The knowledge about logs with which evidence is checked. */
export interface LogKnowledge {
  /** The logs that the reader has seen before. Those of other services do not matter. */
  seen?: readonly SeenLog[];
  /** The log as other parties have seen it. A state of another size is not checked: only the log proves that it continues. */
  others?: readonly SeenLog[];
  /** The witnesses that must have signed. Default: none. */
  witnesses?: WitnessPolicy;
}

/** Returns the short form of a log's state, which two parties can read to each other: its size and its root in base64. */
export const shortForm = ({ size, root }: Checkpoint) => `${size} ${toBase64(root).replace(/=+$/, '')}`;

interface Tagged {
  domain: string;
  computation: string;
  run: string | { id: string };
}

/**
 * Returns the tags of the entries that a log can have of a run, in hex: those of its start, of its end and of its result. With each tag, the
 * index of the entry if a proof names it, and null otherwise.
 */
export function tagsOfRun(
  { domain, computation, run }: Tagged,
  proofs: readonly { type: LoggedAct; index: number }[] = [],
): Map<string, number | null> {
  const id = typeof run === 'string' ? run : run.id;
  const tagOf = (type: LoggedAct) => toHex(logTag({ type, domain, computation, run: id }));
  return new Map(loggedActs.map((type) => [tagOf(type), proofs.find((proof) => proof.type === type)?.index ?? null]));
}
