import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

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
