import { rename, rm } from 'node:fs/promises';

/**
 * Has a file written under a name beside it, `FILE.part`, and gives it its own name once it is whole. If that fails, the file is as it was
 * before, and nothing is left beside it.
 */
export async function writeWhole<Result>(file: string, write: (part: string) => Promise<Result>): Promise<Result> {
  const part = `${file}.part`;
  try {
    const result = await write(part);
    await rename(part, file);
    return result;
  } finally {
    await rm(part, { force: true });
  }
}
