import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { writeKeptFile } from './write-kept-file.ts';

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
