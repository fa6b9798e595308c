import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/**
 * Returns the SHA3-256 of a file in hex: the checksum that agents verify.
 * @param onBytes gets how many bytes were hashed so far
 */
export async function hashFile(
  file: string,
  { onBytes, signal }: { onBytes?: ((done: number) => void) | undefined; signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const hash = createHash('sha3-256');
  let done = 0;
  const chunks: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: 256 * 1024, ...(signal ? { signal } : {}) });
  for await (const chunk of chunks) {
    hash.update(chunk);
    done += chunk.length;
    onBytes?.(done);
  }
  return hash.digest('hex');
}
