import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';

/** The files of `cms evidence`. */
export const evidenceFiles = { evidence: 'evidence.json', keys: 'keys.json', events: 'events.json' };

const saved = v.object({ statement: v.object({ run: v.object({ id: v.string() }) }) });

/** Returns the run whose evidence is in a directory. Undefined if there is none, and an empty text if it cannot be read. */
export async function savedRun(directory: string): Promise<string | undefined> {
  const text = await readFile(join(directory, evidenceFiles.evidence), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), saved), text);
  return read.success ? read.output.statement.run.id : '';
}

export async function saveEvidence(directory: string, contents: Record<keyof typeof evidenceFiles, unknown>): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, file] of Object.entries(evidenceFiles)) {
    const content = contents[name as keyof typeof evidenceFiles];
    const path = join(directory, file);
    await writeFile(`${path}.part`, `${JSON.stringify(content, null, 2)}\n`); // a write that is cut leaves the file as it was
    await rename(`${path}.part`, path);
  }
}
