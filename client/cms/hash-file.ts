import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** Returns the SHA3-256 of a file in hex, the checksum that agents verify. @param onBytes gets how many bytes were read since the last call */
export async function hashFile(file: string, onBytes: (count: number) => void = () => undefined): Promise<string> {
  const hash = createHash('sha3-256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    onBytes(chunk.length);
  }
  return hash.digest('hex');
}
