import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'TESTS_SHARED_WORK';

/** Makes the folder in which the processes of one run of the tests share their work. Returns the clean-up. */
export default function shareWork(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'shared-work-'));
  process.env[variable] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

const pauseInMilliseconds = 50;
const longestWorkInMilliseconds = 60_000;

/**
 * Does work in the first process that asks for it. The others wait for its result, and do the work themselves after a minute.
 * @param name names the work with all that it depends on, besides the sources
 * @param work returns what JSON can hold
 */
export function doneOnce<T>(name: string, work: () => T): T {
  const folder = process.env[variable];
  if (folder === undefined) return work();
  const file = join(folder, createHash('sha256').update(name).digest('hex'));
  if (!existsSync(file) && !isOurs(`${file}.begun`)) waitFor(file);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T;
  const done = work();
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(done));
  renameSync(temporary, file);
  return done;
}

/** Returns whether no other process has made this folder before. */
function isOurs(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function waitFor(file: string): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < longestWorkInMilliseconds && !existsSync(file); waited += pauseInMilliseconds) {
    Atomics.wait(nothing, 0, 0, pauseInMilliseconds);
  }
}
