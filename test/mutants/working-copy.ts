import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const leftOut = new Set(['.git', 'node_modules', 'cdk.out', 'dist', 'coverage', '.data']);

/** A copy of the repository in a temporary directory, whose files may be changed; it shares the installed packages. */
export interface WorkingCopy {
  directory: string;
  write: (file: string, text: string) => void;
  remove: () => void;
}

export function makeWorkingCopy(root: string): WorkingCopy {
  const directory = mkdtempSync(join(tmpdir(), 'mutants-'));
  for (const entry of readdirSync(root)) {
    if (!leftOut.has(entry)) cpSync(join(root, entry), join(directory, entry), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  return {
    directory,
    write: (file, text) => writeFileSync(join(directory, file), text),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
