import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { canonicalJson, hashOfEvent } from 'computation-management-formats/digests';
import * as v from 'valibot';
import { locked } from '../profile/profile.ts';
import { CmsError } from '../terminal/cms-error.ts';
import { isMissing } from './read-file.ts';

/** Schema of a decision of the broker about a key, as its log keeps it. */
const decision = v.object({
  /** The time of the decision: RFC 3339, UTC, by the clock of this machine. */
  at: v.string(),
  decision: v.picklist(['released', 'refused']),
  /** The reason of a refusal. Empty for a release. */
  reason: v.string(),
  /** The identifier of the request, and the asset and the run that it names. */
  release: v.string(),
  asset: v.string(),
  run: v.string(),
  /** The approval by which the run counts its number, and that number. Null where the approval has no limit of runs. */
  approval_id: v.nullable(v.string()),
  use: v.nullable(v.number()),
  /** The thumbprint of the key of the TEE that asked. Empty if the request names none that can be read. */
  tee_key: v.string(),
  /** The nonce that the broker made, the authorization that it got for it, and the SHA-256 of the evidence. */
  nonce: v.string(),
  authorization: v.unknown(),
  evidence: v.string(),
});
export type Decision = v.InferOutput<typeof decision>;

const entry = v.object({ ...decision.entries, previous_hash: v.string(), hash: v.string() });

/**
 * Appends a decision to a log, a line of JSON for each. Each line has the hash of the line before, as the events of a journal do, so a line that
 * was changed or taken out is found, but not the last ones that are missing. Only one process appends at a time.
 * @param decide returns the decision by those before it
 * @returns the decision, once the disk has it
 * @throws CmsError if the log was changed
 */
export async function appendDecision(file: string, decide: (before: Decision[]) => Promise<Decision>): Promise<Decision> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return await locked(`${file}.lock`, async () => {
    const text = await readWhole(file);
    const before = decisionsIn(text, file);
    const made = { ...(await decide(before)), previous_hash: before.at(-1)?.hash ?? '' };
    const line = { ...made, hash: hashOfEvent(made) };
    const opened = await open(file, 'a', 0o600);
    try {
      await opened.truncate(Buffer.byteLength(text));
      await opened.writeFile(`${canonicalJson(line)}\n`);
      await opened.sync();
    } finally {
      await opened.close();
    }
    return made;
  });
}

/** Reads a log of decisions, oldest first. @throws CmsError if a line was changed, or one between others is missing */
export async function readDecisions(file: string): Promise<v.InferOutput<typeof entry>[]> {
  return decisionsIn(await readWhole(file), file);
}

/** Reads the whole lines of a log. A crash can leave a part of one more, of a decision that was never carried out. */
async function readWhole(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return '';
    throw error;
  });
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

function decisionsIn(text: string, file: string): v.InferOutput<typeof entry>[] {
  let previous = '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), entry), line);
      const isNext =
        parsed.success && parsed.output.previous_hash === previous && hashOfEvent(parsed.output) === parsed.output.hash;
      const place = `line ${index + 1} of ${file}`;
      if (!isNext) throw new CmsError(`The log of the broker was changed or cut: ${place} does not follow the line before.`);
      previous = parsed.output.hash;
      return parsed.output;
    });
}
