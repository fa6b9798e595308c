import { readFileSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import * as v from 'valibot';
import { DatabaseSync } from 'node:sqlite';

/** A file of the kept state that cannot be used, and why. */
export interface BrokenFile {
  file: string;
  /** Such as `it is empty`. */
  problem: string;
  /** What is lost if the file is deleted. */
  withoutIt: string;
}

/** The kept state has broken files. Nothing was changed: the user decides what to restore and what to delete. */
export class BrokenFilesError extends Error {
  override readonly name = 'BrokenFilesError';

  constructor(files: BrokenFile[]) {
    const lines = files.map(({ file, problem, withoutIt }) => `  ${file}: ${problem}. ${withoutIt}`);
    super(
      `The state has ${files.length === 1 ? 'a broken file' : `${files.length} broken files`}. A full disk or a crash can cause this.\n` +
        `${lines.join('\n')}\nRestore ${files.length === 1 ? 'it' : 'them'} from a backup, or delete ${files.length === 1 ? 'it' : 'them'}, and start again.`,
    );
  }
}

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

/** The suffix of a file until it is complete. */
export const unfinished = '.unfinished';

/**
 * Replaces a file of the kept state atomically: after a crash or on a full disk it holds its old or its new content, never a
 * part of it. Only this user can read it.
 * @throws Error with the file and why it cannot be written
 */
export function writeKeptFile(file: string, content: string | Buffer): void {
  const temporary = `${file}${unfinished}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(temporary, content, { mode: 0o600, flush: true });
    renameSync(temporary, file);
    flushDirectory(dirname(file));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw cannotWrite(file, error);
  }
}

export function cannotWrite(file: string, error: unknown): Error {
  return new Error(`Cannot write ${file}: ${reasonOf(error)}`, { cause: error });
}

/** Makes a rename survive a power loss. Windows cannot open a directory, and does not need this. */
function flushDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'no space is left on the disk. Free some space and try again.';
  if (code === 'EFBIG') return 'the file is larger than this process may write (ulimit -f).';
  return String(error instanceof Error ? error.message : error);
}

const busyInSqlite = 5;

/**
 * Makes this process the only service on a data directory. Uses SQLite's file lock, which the operating system releases
 * however the process ends, so that no lock outlives its process.
 * @returns a function that releases the directory
 * @throws Error with the directory and the process that uses it, or why the directory cannot be locked
 */
export function lockDirectory(directory: string): () => Promise<void> {
  const holder = join(directory, 'service.pid');
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true });
    lock = new DatabaseSync(join(directory, 'service.lock'));
    lock.exec('BEGIN EXCLUSIVE');
    writeKeptFile(holder, `${process.pid}\n`);
  } catch (error) {
    lock?.close();
    const { errcode, message } = error as Error & { errcode?: number };
    if (errcode !== busyInSqlite) throw new Error(`Cannot lock ${directory}: ${message}`, { cause: error });
    throw new Error(
      `${directory} is in use by another service (process ${processIn(holder)}). Stop it, or choose another directory.`,
    );
  }
  const held = lock;
  return () => Promise.resolve(held.close());
}

function processIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown'; // the process has the lock but has not yet written its id
  }
}
