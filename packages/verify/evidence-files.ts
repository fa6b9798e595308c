import { fromBase64 } from 'computation-management-formats/bytes';
import { canonicalJson } from 'computation-management-formats/digests';
import { printable } from 'computation-management-formats/printable';
import * as v from 'valibot';
import type { LogKnowledge } from './known-logs.ts';
import { type Finding, note, quoted } from './finding.ts';

/** The files by which the attestation of a CVM is verified again: tokens and certificates. */
export interface AttestationFiles {
  /** The attestation tokens that the statement names by their hashes, in any order. */
  tokens?: readonly Uint8Array[];
  /** Certificates of AMD that the attestation tokens lack, in DER or PEM. */
  certificates?: readonly Uint8Array[];
  /** The present time, as of which attestation tokens are verified once more. Default: the time of the clock. */
  now?: Date;
}

/** The contents of the files that `checkEvidence` checks: the evidence of a run, and what it is checked with. */
export interface EvidenceFiles extends AttestationFiles {
  /** The signed evidence of the run: the answer of `GET /{domainID}/computations/{id}/evidence`. */
  evidence: string;
  /**
   * The signed statement about the result of the run: the answer of `GET /{domainID}/computations/{id}/result`. If `evidence` is such a
   * statement itself, the run is not checked.
   */
  result?: string;
  /** The public keys of the service: the answer of `GET /.well-known/jwks.json`. */
  keys: string;
  /** Pages of the computation's journal, each an answer of `GET /{domainID}/computations/{id}/events`, in any order. */
  events?: string[];
  /** The knowledge of the reader about logs. Default: none. */
  log?: LogKnowledge;
}

/**
 * Parses a JSON text that has a canonical form and in which every object has each name once. With a repeated name, two readers
 * could see two different values in the same text.
 * @param what names the text in the error
 * @throws UnreadableError if the text is not such JSON
 */
export function parseJson(text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, '')); // a mark that editors of Windows write first
  } catch (error) {
    throw new UnreadableError(`${what} is not JSON: ${quoted(messageOf(error))}`);
  }
  const name = repeatedName(text);
  if (name !== undefined) throw new UnreadableError(`${what} has an object with two values named ${quoted(name)}.`);
  try {
    canonicalJson({ value });
  } catch (error) {
    throw new UnreadableError(`${what} has no canonical form: ${quoted(messageOf(error))}`);
  }
  return value;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Returns a name that some object in a JSON text has twice. Undefined if there is none. @param text well-formed JSON */
export function repeatedName(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, name] of text.matchAll(/[{}]|("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (name !== undefined) {
      const decoded = JSON.parse(name) as string;
      const names = open.at(-1);
      if (names?.has(decoded)) return decoded;
      names?.add(decoded);
    }
  }
  return undefined;
}

/**
 * The error for a file that cannot be checked at all. The message names the file and what is wrong, perhaps with a part of the
 * file.
 */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';

  constructor(message: string) {
    super(printable(message));
  }
}

const archiveFile = v.strictObject({
  evidence: v.looseObject({}),
  keys: v.looseObject({}),
  events: v.looseObject({}),
  tokens: v.array(v.pipe(v.string(), v.base64())),
});

/**
 * Returns the input for `checkEvidence` from the one file in which the console saves the evidence of a run. Undefined for another
 * file.
 * @throws UnreadableError if the text is not JSON
 */
export function archiveIn(text: string) {
  const parsed = parseJson(text, 'The evidence');
  if (!v.is(archiveFile, parsed)) return undefined;
  const { evidence, keys, events } = parsed; // as they are: what a schema returns lacks members such as `constructor`
  const tokens = parsed.tokens.map((token) => fromBase64(token) ?? new Uint8Array());
  return { evidence: JSON.stringify(evidence), keys: JSON.stringify(keys), events: [JSON.stringify(events)], tokens };
}

/** The note on public keys of the service that were saved in the same file as the evidence, and that the reader did not bring. */
export const keysOfArchive: Finding = note('The keys were saved with the evidence. Compare the key with other parties.');
