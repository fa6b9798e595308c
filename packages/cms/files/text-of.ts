import { readFile } from 'node:fs/promises';
import { CmsError, exitCodes } from '../terminal/cms-error.ts';
import { filesBeside, whyUnreadable } from '../terminal/shell-word.ts';

/** @throws CmsError if the file cannot be read */
export async function textOf(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CmsError(whyUnreadable(file, error), { next: filesBeside(file), exitCode: exitCodes.usage });
  });
}
