import type { IncomingMessage } from 'node:http';

/** The whole body, or undefined where it is larger than `limitInBytes`; what is over is read and thrown away. */
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
