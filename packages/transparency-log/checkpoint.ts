import { type Bytes, fromBase64, toBase64 } from 'computation-management-formats/bytes';
import { MalformedError } from './malformed-error.ts';
import { parseNote } from './note.ts';
import type { Tree } from './tree.ts';

/** A state of a log, with the name of the log. */
export interface Checkpoint extends Tree {
  /** The name of the log. */
  origin: string;
}

/** Returns the text of a checkpoint, which the log signs as a note (C2SP tlog-checkpoint). */
export const checkpointText = ({ origin, size, root }: Checkpoint) => `${origin}\n${size}\n${toBase64(root)}\n`;

/**
 * Parses the text of a checkpoint, without the signatures. Verifies nothing.
 * @throws MalformedError if the text is none, or has lines that nobody here checks
 */
export function parseCheckpoint(text: string): Checkpoint {
  const [, origin = '', digits = '', base64 = ''] = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([^\n]+)\n$/.exec(text) ?? [];
  const [size, root] = [Number(digits), fromBase64(base64)];
  if (origin === '' || !Number.isSafeInteger(size) || root?.length !== 32) {
    throw new MalformedError('Expected a checkpoint: lines with the origin, the size, and the root of 32 bytes in base64.');
  }
  return { origin, size, root };
}

/** Returns the checkpoint that a signed note has. Verifies nothing. @throws MalformedError if the text is no such note */
export const checkpointIn = (note: string): Checkpoint => parseCheckpoint(parseNote(note).text);

/** The proof that an entry is in a log at an index (C2SP tlog-proof). */
export interface TlogProof {
  index: number;
  /** The inclusion proof: the hashes beside the path from the leaf to the root, those at the leaf first. */
  hashes: Uint8Array[];
  /** The signed checkpoint of the tree that has the entry, a note. */
  checkpoint: string;
}

const header = 'c2sp.org/tlog-proof@v1';
/** The most hashes of a proof: no tree here is higher. */
const mostHashes = 53;

/** Returns the text form of a proof. */
export function formatProof({ index, hashes, checkpoint }: TlogProof): string {
  return [header, `index ${index}`, ...hashes.map(toBase64), '', checkpoint].join('\n');
}

/** Parses the text form of a proof. Verifies nothing. @throws MalformedError if the text is none, or has extra data */
export function parseProof(text: string): TlogProof {
  const at = text.indexOf('\n\n');
  const [first, second = '', ...lines] = text.slice(0, at).split('\n');
  const [, digits] = /^index (0|[1-9]\d{0,15})$/.exec(second) ?? [];
  const hashes = lines.map(fromBase64).filter((hash): hash is Bytes => hash?.length === 32);
  const index = Number(digits);
  if (at < 0 || first !== header || !Number.isSafeInteger(index) || hashes.length !== lines.length || lines.length > mostHashes) {
    throw new MalformedError(
      `Expected a ${header}: its index, up to ${mostHashes} hashes in base64, an empty line, and a checkpoint.`,
    );
  }
  const checkpoint = text.slice(at + 2);
  parseNote(checkpoint);
  return { index, hashes, checkpoint };
}
