import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as v from 'valibot';

/** A file of the service's kept state that cannot be used, and the reason. */
export interface BrokenFile {
  file: string;
  /** The problem of the broken file in words, such as `it is empty`. */
  problem: string;
  /** A sentence about the data that is lost if the file is deleted. */
  withoutIt: string;
}

/**
 * Thrown when the service's kept state has broken files. Nothing was changed: the user decides which files to restore or delete.
 */
export class BrokenFilesError extends Error {
  override readonly name = 'BrokenFilesError';

  constructor(files: BrokenFile[]) {
    const lines = files.map(({ file, problem, withoutIt }) => `  ${file}: ${problem}. ${withoutIt}`);
    const [what, it] = files.length === 1 ? ['a broken file', 'it'] : [`${files.length} broken files`, 'them'];
    super(
      `The state has ${what}. A full disk or a crash can cause this.\n${lines.join('\n')}\n` +
        `Restore ${it} from a backup, or delete ${it}, and start again.`,
    );
  }
}

/**
 * Reads a JSON file of the service's kept state. Returns the content, or the `problem` of a broken file, or undefined if there is
 * no file. @throws Error of the file system
 */
export function readKeptJson<S extends v.GenericSchema>(
  file: string,
  schema: S,
): { content: v.InferOutput<S> } | { problem: string } | undefined {
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

/** A JSON file of the service's kept state. Without a data directory, there is never a file, and nothing is written. */
export interface KeptFile<Content> {
  /** Reads the content of the file. Returns undefined if there is no file. @throws BrokenFilesError if the file is not valid */
  read: () => Content | undefined;
  /** Replaces the content of the file, and returns the content. */
  write: (content: Content) => Content;
}

export function keptFile<S extends v.GenericSchema>(
  dataDirectory: string | undefined,
  name: string,
  { schema, withoutIt }: { schema: S } & Pick<BrokenFile, 'withoutIt'>,
): KeptFile<v.InferOutput<S>> {
  const file = dataDirectory === undefined ? undefined : join(dataDirectory, name);
  return {
    read: () => {
      if (file === undefined) return undefined;
      const kept = readKeptJson(file, schema);
      if (kept && 'problem' in kept) throw new BrokenFilesError([{ file, problem: kept.problem, withoutIt }]);
      return kept?.content;
    },
    write: (content) => {
      if (file !== undefined) writeKeptFile(file, JSON.stringify(content));
      return content;
    },
  };
}

/**
 * Replaces a file of the service's kept state atomically: after a crash or on a full disk, the file has its old or its new
 * content, never a part of it. Only the user of the process can read the file.
 * @throws Error with the file and why it cannot be written
 */
export function writeKeptFile(file: string, content: string | Buffer): void {
  const temporary = `${file}.unfinished`;
  try {
    makeKeptDirectory(dirname(file));
    writeFileSync(temporary, content, { mode: 0o600, flush: true });
    renameSync(temporary, file);
    flushDirectory(dirname(file));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw cannotWrite(file, error);
  }
}

/**
 * Creates a file of the service's kept state that is written piece by piece. Only the user of the process can read the file.
 * @throws Error if the file exists
 */
export async function createKeptFile(file: string): Promise<FileHandle> {
  return await open(file, 'wx', 0o600);
}

/** Makes a directory of the service's kept state, unless the directory exists. Only the user of the process can open it. */
export function makeKeptDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
}

/** Returns an error that says why a file of the service's kept state cannot be written. @param error of the file system */
export function cannotWrite(file: string, error: unknown): Error {
  return new Error(`Cannot write ${file}: ${reasonOf(error)}`, { cause: error });
}

/**
 * Flushes a directory to the disk, so that a rename in it survives a power loss. Does nothing on Windows, which cannot open a
 * directory and does not need the flush.
 */
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

/**
 * Makes this process the only service on a data directory. The operating system releases the lock of the directory however the
 * process ends.
 * @returns a function that releases the directory
 * @throws Error with the directory and the process that uses it, or why the directory cannot be locked
 */
export function lockDirectory(directory: string): () => Promise<void> {
  const holder = join(directory, 'service.pid');
  let lock: number | undefined;
  try {
    makeKeptDirectory(directory);
    const file = join(directory, 'service.lock');
    const isOwn = existsSync(file) || readdirSync(directory).length === 0; // else it is also for other things
    if (isOwn) chmodSync(directory, 0o700);
    const { tryLock } = createRequire(import.meta.url)('fs-native-extensions') as { tryLock: (file: number) => boolean };
    lock = openSync(file, 'a', 0o600);
    if (tryLock(lock)) writeKeptFile(holder, `${process.pid}\n`);
    else {
      closeSync(lock);
      lock = undefined;
    }
  } catch (error) {
    if (lock !== undefined) closeSync(lock);
    throw new Error(`Cannot lock ${directory}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (lock === undefined) {
    throw new Error(
      `${directory} is in use by another service (process ${processIn(holder)}). Stop it, or choose another directory.`,
    );
  }
  const held = lock;
  return () => Promise.resolve(closeSync(held));
}

function processIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown'; // the process has the lock but has not yet written its id
  }
}
