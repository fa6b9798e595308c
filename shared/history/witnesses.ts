import { toBase64 } from 'computation-management-formats/bytes';
import {
  addSignatures,
  consistencyProof,
  isWitnessVkey,
  openNote,
  parseNote,
  parseVkey,
  type ReadTile,
} from 'computation-management-transparency-log';
import * as v from 'valibot';
import { environment } from '../runtime/environment.ts';
import { log } from '../runtime/log.ts';

/** The schema of a witness. */
export const witnessSchema = v.strictObject({
  url: v.pipe(v.string(), v.url(), v.regex(/^https?:\/\//i)),
  vkey: v.pipe(v.string(), v.check(isWitnessVkey)),
});

/** A witness of the log, which cosigns a checkpoint if it is consistent with all that it has seen (C2SP tlog-witness). */
export type Witness = v.InferOutput<typeof witnessSchema>;

/** Returns the witnesses of the stage. */
export function witnessesOfStage(): Witness[] {
  return v.parse(v.array(witnessSchema), JSON.parse(environment().LOG_WITNESSES));
}

/** The time in which witnesses must answer, in milliseconds (docs/contract.md, section 10). */
const patienceInMilliseconds = 5_000;

interface Submitted {
  /** The signed checkpoint. */
  note: string;
  size: number;
  /** The size of the checkpoint that was published before. */
  before: number;
}

/**
 * Submits a signed checkpoint to witnesses, all at once.
 * @returns the checkpoint with the cosignatures that came in time and verify
 */
export async function withCosignatures(submitted: Submitted, witnesses: readonly Witness[], readTile: ReadTile): Promise<string> {
  const late = AbortSignal.timeout(patienceInMilliseconds);
  const asked = witnesses.map(async (witness) => {
    try {
      return await cosignatureIn(submitted.note, await submit(submitted, witness, readTile, late), witness);
    } catch (error) {
      log('WARN', 'A witness did not cosign a checkpoint.', { witness: witness.url }, error);
      return '';
    }
  });
  return (await Promise.all(asked)).reduce((note, lines) => (lines === '' ? note : addSignatures(note, lines)), submitted.note);
}

/**
 * Returns the one line with the cosignature of a witness. A line under another name would make the checkpoint one that nobody can open.
 * @throws MalformedError if none of the lines has one that verifies
 */
async function cosignatureIn(note: string, lines: string, { vkey }: Witness): Promise<string> {
  const text = note.slice(0, note.indexOf('\n\n') + 2);
  const own = parseVkey(vkey);
  const found = parseNote(text + lines).signatures.find(({ name, id }) => name === own.name && id === own.id);
  const line = found ? `\u2014 ${found.name} ${toBase64(found.bytes)}\n` : '';
  await openNote(text + line, [vkey]);
  return line;
}

/**
 * Asks a witness for its cosignature, and asks again if it says that it knows a checkpoint of another size.
 * @returns the lines with its signatures
 */
async function submit({ note, size, before }: Submitted, { url }: Witness, readTile: ReadTile, signal: AbortSignal) {
  const ask = async (old: number) => {
    const proof = old === 0 || old === size ? [] : await consistencyProof(old, size, readTile);
    const body = [`old ${old}`, ...proof.map(toBase64), '', note].join('\n');
    return await fetch(`${url.replace(/\/$/, '')}/add-checkpoint`, { method: 'POST', body, signal, redirect: 'error' });
  };
  let answer = await ask(before);
  if (answer.status === 409) {
    const [, digits] = /^(\d{1,15})\n$/.exec(await answer.text()) ?? [];
    const known = Number(digits);
    if (!(known <= size)) throw new Error(`It knows a checkpoint of size ${digits ?? 'unknown'}, beyond ${size}.`);
    answer = await ask(known);
  }
  if (!answer.ok) throw new Error(`It answered ${answer.status}.`);
  return await answer.text();
}
