import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { writeKeptFile } from './write-kept-file.ts';

const busyInSqlite = 5;

/**
 * Makes this process the only service on a data directory. SQLite's lock of a file is one of the operating system, which
 * frees it however the process ends, so that no lock outlives its holder.
 * @returns gives the directory back
 * @throws Error naming the directory and the process that serves it
 */
export function lockDirectory(directory: string): () => Promise<void> {
  mkdirSync(directory, { recursive: true });
  const lock = new DatabaseSync(join(directory, 'service.lock'));
  const holder = join(directory, 'service.pid');
  try {
    lock.exec('BEGIN EXCLUSIVE');
    writeKeptFile(holder, `${process.pid}\n`);
  } catch (error) {
    lock.close();
    const { errcode, message } = error as Error & { errcode?: number };
    if (errcode !== busyInSqlite) throw new Error(`Cannot lock ${directory}: ${message}`, { cause: error });
    throw new Error(
      `${directory} is in use by another service (process ${processIn(holder)}). End that one, or choose another directory.`,
    );
  }
  return () => Promise.resolve(lock.close());
}

function processIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown'; // it has the lock and is about to write its number
  }
}
