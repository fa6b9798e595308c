import type { IncomingMessage } from 'node:http';

/** Reads the whole body. Returns undefined if it is larger than `limitInBytes`; the excess is read and dropped. */
export function readBody(message: IncomingMessage, limitInBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitInBytes) chunks.push(chunk);
      else chunks = [];
    });
    message.once('end', () => resolve(size <= limitInBytes ? Buffer.concat(chunks) : undefined));
    message.once('error', reject);
  });
}
