import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files that are complete, beside the places of their names. */
export interface UnplacedFiles {
  /** Puts the files in their places, instead of what is there. @throws Error that names the files that are left */
  place: () => void;
  discard: () => void;
}

/**
 * Writes files of these names and contents into a directory, under other names. So if one cannot be written, what is there stays
 * as it is. Only this user can read them.
 * @throws Error that says which directory, and why
 */
export function writeUnplaced(directory: string, contents: Record<string, string>): UnplacedFiles {
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
  const place = () => {
    try {
      for (const { name, temporary } of names) renameSync(temporary, name);
    } catch (error) {
      const left = `The new files are in ${directory}, and end in .new. Rename those that are left.`;
      throw new Error(`A file cannot be replaced: ${messageOf(error)}. ${left}`, { cause: error });
    }
  };
  return { place, discard };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
