import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sizeText } from 'computation-management-client';

/** A file in tools/demo/data/. */
export interface InputFile {
  name: string;
  path: string;
  content: Buffer<ArrayBuffer>;
  /** SHA3-256, the hash that an agent verifies. */
  sha3: Buffer;
  /** Formatted, such as `14.9 KiB`. */
  size: string;
}

export async function readInputFile(name: string): Promise<InputFile> {
  const path = join(import.meta.dirname, 'data', name);
  const content = await readFile(path);
  const sha3 = createHash('sha3-256').update(content).digest();
  return { name, path, content, sha3, size: sizeText(content.length) };
}
