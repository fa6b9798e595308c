import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A file in demo/data/. */
export interface InputFile {
  name: string;
  content: Buffer<ArrayBuffer>;
  /** SHA3-256, the hash that an agent verifies. */
  sha3: Buffer;
  /** Formatted, such as `15.2 kB`. */
  size: string;
}

export async function readInputFile(name: string): Promise<InputFile> {
  const content = await readFile(new URL(`data/${name}`, import.meta.url));
  const sha3 = createHash('sha3-256').update(content).digest();
  return { name, content, sha3, size: `${(content.length / 1_000).toFixed(1)} kB` };
}
