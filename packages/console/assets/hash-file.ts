import { sha3_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

interface Options {
  signal: AbortSignal;
  /** Called with the number of bytes of the file that have been hashed so far. */
  onProgress?: (bytes: number) => void;
}

/**
 * Returns the SHA3-256 of a file, hex. Reads it in pieces, so that it may be larger than the memory.
 * @throws the reason of the signal, or why the file cannot be read
 */
export async function hashFile(file: Pick<Blob, 'stream'>, { signal, onProgress }: Options): Promise<string> {
  const hash = sha3_256.create();
  const reader = file.stream().getReader();
  let bytes = 0;
  for (;;) {
    const { value, done } = await reader.read();
    signal.throwIfAborted(); // also after the last piece: what was cancelled is not declared
    if (done) return bytesToHex(hash.digest());
    hash.update(value);
    onProgress?.((bytes += value.length));
  }
}
