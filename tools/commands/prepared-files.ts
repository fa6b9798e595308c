import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Complete files under temporary names, beside those that they replace. */
export interface PreparedFiles {
  /** Renames the files, and so replaces the previous ones. @throws Error that names the files that are left */
  install: () => void;
  discard: () => void;
}

/**
 * Writes files of these names and contents into a directory, under other names. If one cannot be written, the previous files stay
 * unchanged. Only this user can read them.
 * @throws Error that says which directory, and why
 */
export function prepareFiles(directory: string, contents: Record<string, string>): PreparedFiles {
  const names = Object.keys(contents).map((name) => ({ name: join(directory, name), temporary: join(directory, `${name}.new`) }));
  const discard = () => {
    for (const { temporary } of names) rmSync(temporary, { force: true });
  };
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    discard(); // the mode counts for new files alone
    for (const [name, content] of Object.entries(contents)) {
      writeFileSync(join(directory, `${name}.new`), content, { mode: 0o600, flush: true });
    }
  } catch (error) {
    try {
      discard();
    } catch {
      // the first error says more
    }
    throw new Error(`Cannot write into ${directory}: ${messageOf(error)}`, { cause: error });
  }
  const install = () => {
    try {
      for (const { name, temporary } of names) renameSync(temporary, name);
    } catch (error) {
      const left = `The new files are in ${directory}, and end in .new. Rename those that are left.`;
      throw new Error(`A file cannot be replaced: ${messageOf(error)}. ${left}`, { cause: error });
    }
  };
  return { install, discard };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
