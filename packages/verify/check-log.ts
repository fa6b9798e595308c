import { fromBase64, isEqual } from 'computation-management-formats/bytes';
import { hashOfEvent, lengthOfSalt, logEntry, logTag } from 'computation-management-formats/digests';
import type { LoggedAct } from 'computation-management-formats/vocabulary';
import {
  type Checkpoint,
  leafHash,
  MalformedError,
  openNote,
  parseCheckpoint,
  parseProof,
  verifyInclusion,
} from 'computation-management-transparency-log';
import * as v from 'valibot';
import { check, fails, type Finding, holds, note, quoted, unchecked } from './finding.ts';
import { type LogKnowledge, shortForm, type WitnessPolicy } from './known-logs.ts';
import { type ChainedEvent, type Statement, unknownMembers, logProofs, type LogProofs } from './statement.ts';

/** The acts of a run that a log must have. */
interface LoggedActs extends Pick<Statement, 'domain' | 'computation' | 'log'> {
  run: string;
  /** The events of the acts, by the type of their entries. */
  acts: [LoggedAct, ChainedEvent][];
  /** The acts in words. */
  what: string;
}

/** Checks that the log which a statement names has the start and the end of the run, as `checkActs` does. */
export async function checkLog(statement: Statement, proofs: unknown, known: LogKnowledge = {}): Promise<Finding[]> {
  const { domain, computation, run, log, events } = statement;
  const acts: LoggedActs['acts'] = [
    ['run-start', events.started],
    ['run-end', events.last],
  ];
  const what = 'the start and the end of the run';
  return await checkActs({ domain, computation, run: run.id, log, acts, what }, proofs, known);
}

/**
 * Checks that the log which a statement names has acts of a run, by the proofs beside the statement, and compares its checkpoint with what
 * the reader knows. Says the checkpoint in a short form, which the parties compare.
 * @param proofs the member `log` beside the statement, as it was read
 */
export async function checkActs(logged: LoggedActs, proofs: unknown, known: LogKnowledge = {}): Promise<Finding[]> {
  const { acts, what } = logged;
  const { origin, vkey } = logged.log;
  const form = v.safeParse(logProofs, proofs);
  if (!form.success) return [fails('The evidence has no proofs that the log has the run, or in another form than expected.')];
  const unknown = unknownMembers(proofs, form.output).map((name) =>
    fails(`The proofs of the log have a member ${quoted(name)}, which nobody checks.`),
  );
  try {
    const proven = [];
    for (const [type, event] of acts) {
      proven.push(await proveEntry(logged, form.output, type, hashOfEvent(event))); // in this order: the first objection is named
    }
    const [first] = proven.map(({ checkpoint }) => checkpoint);
    const isOneTree = first && proven.every(({ checkpoint }) => isSameTree(first, checkpoint));
    if (form.output.entries.length !== proven.length || !isOneTree) {
      return [...unknown, fails(`The proofs are not those of ${what} in one tree of the log.`)];
    }
    const notes = proven.map(({ signed }) => signed);
    const places = `${proven.length === 1 ? 'the entry' : 'the entries'} ${proven.map(({ index }) => index).join(' and ')}`;
    return [
      ...unknown,
      holds(`The log ${quoted(origin)} has ${what}, as ${places} of its ${first.size}.`),
      note(`Compare this state of the log with the other parties: ${shortForm(first)}.`),
      ...(await compareWithSeen(logged, first, known)),
      ...(known.witnesses ? [await checkWitnesses(notes, known.witnesses)] : []),
    ];
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotSupportedError') {
      return [...unknown, unchecked('The log was not checked here: this browser or Node cannot verify signatures by Ed25519.')];
    }
    if (!(error instanceof MalformedError)) throw error;
    return [...unknown, fails(`The log ${quoted(origin)} with the key ${quoted(vkey)} does not prove the run: ${error.message}`)];
  }
}

/** Verifies the proof of an entry. @throws MalformedError if the proof does not show that the log has the entry */
async function proveEntry(logged: LoggedActs, { entries }: LogProofs, type: LoggedAct, event_hash: string) {
  const { domain, computation, run, log } = logged;
  const entry = entries.find((each) => each.type === type);
  const salt = fromBase64(entry?.salt ?? '');
  if (!entry || salt?.length !== lengthOfSalt) throw new MalformedError(`The proof of ${type} is missing, or its salt is.`);
  const { index, hashes, checkpoint: signed } = parseProof(entry.proof);
  const checkpoint = parseCheckpoint((await openNote(signed, [log.vkey])).text);
  const leaf = leafHash(logEntry({ tag: logTag({ type, domain, computation, run }), salt, event_hash }));
  if (checkpoint.origin !== log.origin) throw new MalformedError(`The proof of ${type} is of another log.`);
  // defence
  if (index !== entry.index || !verifyInclusion(leaf, index, checkpoint, hashes)) {
    throw new MalformedError(`The log does not have ${type} as the entry ${entry.index}.`);
  }
  return { index, checkpoint, signed };
}

const isSameTree = (one: Checkpoint, other: Checkpoint) => one.size === other.size && isEqual(one.root, other.root);

/**
 * Compares the state of a log, and those that this and other parties have seen of it, each with each other.
 * @throws MalformedError if one is not signed
 */
async function compareWithSeen({ log }: LoggedActs, found: Checkpoint, known: LogKnowledge): Promise<Finding[]> {
  const { seen = [], others = [] } = known;
  const name = `The log ${quoted(log.origin)}`;
  const states = [found];
  const compared = [...seen.filter(({ origin }) => origin === log.origin), ...others].map(async (each) => {
    if (each.origin !== log.origin) return fails(`${name} is not the one of the other party, ${quoted(each.origin)}.`);
    if (each.vkey !== log.vkey) return fails(`${name} is known with another key too, ${quoted(each.vkey)}.`);
    const before = parseCheckpoint((await openNote(each.checkpoint, [each.vkey])).text);
    const alike = states.filter(({ origin, size }) => origin === before.origin && size === before.size);
    states.push(before);
    const fork = alike.find((state) => !isSameTree(state, before));
    const other = `another state of ${name.replace('The', 'the')} is known: ${shortForm(before)}`;
    if (fork) return fails(`Two histories: ${other}, beside ${shortForm(fork)}.`);
    if (alike.includes(found)) return holds(`The same state of it is known: ${shortForm(before)}.`);
    const isOwn = seen.includes(each);
    return isOwn
      ? undefined
      : unchecked(`${name} had ${before.size} entries for the other party: only cms log check can compare.`);
  });
  return (await Promise.all(compared)).filter((finding) => finding !== undefined);
}

/** Checks that enough of the witnesses have signed the checkpoint of each proof. */
async function checkWitnesses(notes: readonly string[], { vkeys, needed }: WitnessPolicy): Promise<Finding> {
  const countOf = async (signed: string) => {
    const { signatures } = await openNote(signed, vkeys).catch(() => ({ signatures: [] }));
    return signatures.filter(({ time }) => time !== undefined).length;
  };
  const signed = Math.min(...(await Promise.all(notes.map(countOf))));
  const seen = `The state of the log was seen by ${signed} of the ${vkeys.length} witnesses`;
  return check(signed >= needed, `${seen}, and ${needed} are demanded.`, `${seen}, but ${needed} are demanded.`);
}
