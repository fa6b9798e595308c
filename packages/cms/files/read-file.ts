import { readFile } from 'node:fs/promises';
import { UsageError } from '../terminal/cms-error.ts';
import { filesBeside, whyUnreadable } from '../terminal/shell-word.ts';

/** @throws CmsError if the file cannot be read */
export async function readBytes(file: string): Promise<Buffer> {
  return await readFile(file).catch((error: unknown) => {
    throw new UsageError(whyUnreadable(file, error), filesBeside(file));
  });
}

/** @throws CmsError if the file cannot be read */
export async function textOf(file: string): Promise<string> {
  return (await readBytes(file)).toString();
}
