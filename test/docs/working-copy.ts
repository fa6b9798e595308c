import { spawn } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path/posix';

/** Tests that take longer have failed. */
const mostSeconds = 1_200;
const root = join(import.meta.dirname, '../..');

/** A copy of the repository, whose files may be changed. It shares the installed packages, and has its own of the workspace. */
export function makeWorkingCopy(directory: string): string {
  const leftOut = new Set(['.git', 'node_modules', 'cdk.out', 'dist', 'coverage', '.data']);
  for (const entry of readdirSync(root)) {
    if (!leftOut.has(entry)) cpSync(join(root, entry), join(directory, entry), { recursive: true });
  }
  const [from, to] = [join(root, 'node_modules'), join(directory, 'node_modules')];
  mkdirSync(to);
  for (const entry of readdirSync(from)) {
    const isOfWorkspace = lstatSync(join(from, entry)).isSymbolicLink();
    symlinkSync(isOfWorkspace ? readlinkSync(join(from, entry)) : join(from, entry), join(to, entry));
  }
  return directory;
}

/** Runs a program of Node in a folder. */
export async function exitsWith0(cwd: string, words: string[]): Promise<boolean> {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(cwd, 'node_modules/.compiled') };
  // A group of its own, which ends as a whole.
  const child = spawn(process.execPath, words, { cwd, env, stdio: 'ignore', detached: true });
  const end = () => child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, 'SIGKILL');
  const late = setTimeout(end, 1_000 * mostSeconds);
  process.once('exit', end);
  try {
    return await new Promise((resolve, reject) => child.once('error', reject).once('close', (code) => resolve(code === 0)));
  } finally {
    clearTimeout(late);
    process.off('exit', end);
  }
}
