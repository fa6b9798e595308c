import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { BrokenFilesError } from './broken-files-error.ts';
import { writeKeptFile } from './write-kept-file.ts';

/** The content of a file of the kept state, or its `problem` if it is broken. Undefined if there is no such file. */
export type KeptJson<Content> = { content: Content } | { problem: string } | undefined;

/** Reads a JSON file of the kept state. @throws Error of the file system, such as EACCES */
export function readKeptJson<S extends v.GenericSchema>(file: string, schema: S): KeptJson<v.InferOutput<S>> {
  const text = textOf(file);
  if (text === undefined) return undefined;
  if (text.trim() === '') return { problem: 'it is empty' };
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (result.success) return { content: result.output };
  const [issue] = result.issues;
  return {
    problem: issue.type === 'parse_json' ? 'it is not complete JSON' : `${v.getDotPath(issue) ?? 'its content'} is not valid`,
  };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Returns what a file under `dataDirectory` holds. If there is none, creates and writes it. Without a directory, creates it in memory.
 * @throws BrokenFilesError with `withoutIt`: what is lost if the file is deleted
 */
export function keptOrNew<S extends v.GenericSchema>(
  dataDirectory: string | undefined,
  name: string,
  { schema, create, withoutIt }: { schema: S; create: () => v.InferOutput<S>; withoutIt: string },
): v.InferOutput<S> {
  if (dataDirectory === undefined) return create();
  const file = join(dataDirectory, name);
  const kept = readKeptJson(file, schema);
  if (kept && 'problem' in kept) throw new BrokenFilesError([{ file, problem: kept.problem, withoutIt }]);
  if (kept) return kept.content;
  const created = create();
  writeKeptFile(file, JSON.stringify(created));
  return created;
}
