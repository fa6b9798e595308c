import { isEqual, toHex } from 'computation-management-formats/bytes';
import { logProofs, statedLog } from './statement.ts';
import {
  appendEntries,
  checkpointIn,
  consistencyProof,
  MalformedError,
  openNote,
  parseCheckpoint,
  parseProof,
  readEntries,
  type ReadTile,
  verifyConsistency,
} from 'computation-management-transparency-log';
import * as v from 'valibot';
import { archiveIn, parseJson, UnreadableError } from './evidence-files.ts';
import { quoted } from './finding.ts';
import { type SeenLog, shortForm, tagsOfRun } from './known-logs.ts';

const evidenceWithLog = v.looseObject({
  statement: v.looseObject({
    domain: v.string(),
    computation: v.string(),
    run: v.union([v.string(), v.looseObject({ id: v.string() })]),
    log: statedLog,
  }),
  log: v.looseObject({ entries: v.pipe(logProofs.entries.entries, v.minLength(1)) }),
});

/**
 * Returns the log that evidence names, as its proofs show it, and the tags of its run with the index of each entry that it proves. Verifies
 * only that the log has signed.
 * @param evidence signed evidence, or the one file in which the console saves it
 * @throws UnreadableError if the text is no evidence with proofs of a log
 */
export async function logOfEvidence(evidence: string): Promise<{ log: SeenLog; tags: Map<string, number | null> }> {
  const { output, success } = v.safeParse(evidenceWithLog, parseJson(archiveIn(evidence)?.evidence ?? evidence, 'The evidence'));
  const [entry] = success ? output.log.entries : [];
  if (!success || !entry) throw new UnreadableError('The evidence has no proofs of a log.');
  try {
    const { origin, vkey } = output.statement.log;
    const { checkpoint } = parseProof(entry.proof);
    await openNote(checkpoint, [vkey]);
    return { log: { origin, vkey, checkpoint }, tags: tagsOfRun(output.statement, output.log.entries) };
  } catch (error) {
    if (error instanceof MalformedError) throw new UnreadableError(`The evidence has no proof of a log: ${error.message}`);
    throw error;
  }
}

/** The error for a log that shows two histories, or hides that it does. `checkpoints` are the signed notes that contradict each other. */
export class LogAlarm extends Error {
  override readonly name = 'LogAlarm';
  readonly checkpoints: readonly string[];

  constructor(message: string, checkpoints: readonly string[]) {
    super(message);
    this.checkpoints = checkpoints;
  }
}

/**
 * Checks that a log continues everything that was seen of it: its published checkpoint is that of one log, not smaller than a seen one, and
 * its tiles prove that each seen tree is its beginning. Returns the log as it is seen now.
 * @param seen what this party has seen of the log, then what others have, or what evidence shows
 * @param published the published checkpoint, a signed note. Read it after the others
 * @throws LogAlarm if the log shows two histories, goes back, has another name or key, or does not give the proof
 */
export async function followLog(seen: readonly [SeenLog, ...SeenLog[]], published: string, readTile: ReadTile): Promise<SeenLog> {
  const [{ origin, vkey, checkpoint: first }] = seen;
  const other = seen.find((each) => each.origin !== origin || each.vkey !== vkey);
  if (other) {
    const names = [{ origin, vkey }, other].map((each) => `${quoted(each.origin)} with the key ${quoted(each.vkey)}`);
    throw new LogAlarm(`The service has shown two logs: ${names.join(', and ')}.`, [first, other.checkpoint]);
  }
  const now = await opened(published, vkey, [first, published]);
  for (const { checkpoint } of seen) {
    const both = [checkpoint, published];
    const before = await opened(checkpoint, vkey, both);
    const states = `${shortForm(before)}, and now ${shortForm(now)}`;
    if ([before, now].some((each) => each.origin !== origin))
      throw new LogAlarm(`A checkpoint is not of ${quoted(origin)}.`, both);
    if (before.size > now.size) throw new LogAlarm(`The log ${quoted(origin)} went back. It was ${states}.`, both);
    const unproven = (why: string) => `The log ${quoted(origin)} does not prove that it continues. It was ${states}. ${why}`;
    const proof = await consistencyProof(before.size, now.size, readTile).catch(alarm(unproven, both));
    // defence
    if (!verifyConsistency(before, now, proof)) {
      throw new LogAlarm(`The log ${quoted(origin)} shows two histories. It was ${states}, which does not continue it.`, both);
    }
  }
  return { origin, vkey, checkpoint: published };
}

async function opened(checkpoint: string, vkey: string, both: readonly string[]) {
  const open = async () => parseCheckpoint((await openNote(checkpoint, [vkey])).text);
  return await open().catch(alarm((why) => `The log shows a checkpoint that it has not signed. ${why}`, both));
}

/** Returns a function that throws a LogAlarm in place of an error about a malformed log, and any other error as it is. */
function alarm(said: (why: string) => string, checkpoints: readonly string[]) {
  return (error: unknown): never => {
    throw error instanceof MalformedError ? new LogAlarm(said(error.message), checkpoints) : error;
  };
}

/**
 * Adds the tags of runs that evidence shows to those that a party knows.
 * @param log the log, as `followLog` returned it
 * @param known the index of the known entry of each tag, in hex. Null where it is not known yet
 * @param checkpoints the signed notes that prove the alarm
 * @throws LogAlarm if a tag has two entries
 */
export function withTags(
  log: SeenLog,
  known: Readonly<Record<string, number | null>>,
  shown: Iterable<readonly [tag: string, index: number | null]>,
  checkpoints: readonly string[],
): Record<string, number | null> {
  const tags = { ...known };
  for (const [tag, index] of shown) {
    const earlier = (tags[tag] ??= index);
    if (earlier !== null && index !== null && earlier !== index) throw secondEntry(log, tag, [earlier, index], checkpoints);
  }
  return tags;
}

function secondEntry({ origin }: SeenLog, tag: string, [one, other]: [number, number], checkpoints: readonly string[]): LogAlarm {
  const places = `${one} and ${other}`;
  return new LogAlarm(`The log ${quoted(origin)} has two entries of ${tag}, which is known here: ${places}.`, checkpoints);
}

/**
 * Looks in the entries of a log for second entries of tags that a party knows. Reads the entries from an index on, and checks that they are
 * those of the checkpoint.
 * @param log the log, as `followLog` returned it
 * @param tags the tags in hex, with the index of the known entry of each. Null where it is not known yet
 * @returns the tags, with the index of each entry that was found
 * @throws LogAlarm if a tag has two entries, or the tiles are not those of the checkpoint
 */
export async function findSecondEntries(
  log: SeenLog,
  from: number,
  tags: ReadonlyMap<string, number | null>,
  readTile: ReadTile,
): Promise<Map<string, number | null>> {
  const { origin, checkpoint } = log;
  const { size, root } = checkpointIn(checkpoint);
  const found = new Map(tags);
  const hidden = alarm((why) => `The log ${quoted(origin)} does not show its entries: ${why}`, [checkpoint]);
  const entries = await readEntries(from, size, size, readTile).catch(hidden);
  const grown = await appendEntries(from, entries, readTile).catch(hidden);
  if (!isEqual(grown.root, root)) {
    throw new LogAlarm(`The entries that the log ${quoted(origin)} shows are not those of its checkpoint.`, [checkpoint]);
  }
  for (const [at, entry] of entries.entries()) {
    const tag = toHex(entry.subarray(0, 32));
    if (!found.has(tag)) continue;
    const index = found.get(tag) ?? from + at;
    // defence
    if (index !== from + at) throw secondEntry(log, tag, [index, from + at], [checkpoint]);
    found.set(tag, index);
  }
  return found;
}
