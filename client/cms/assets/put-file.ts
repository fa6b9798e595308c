import { createReadStream } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';

/** A presigned request that uploads content. */
export interface PresignedPut {
  method: string;
  url: string;
  headers: Record<string, string>;
}

/** What storage answered. */
export interface PutAnswer {
  status: number;
  body: string;
}

interface Options {
  size: number;
  signal: AbortSignal;
  onBytes: (count: number) => void;
}

const chunkInBytes = 256 * 1024;

/** Sends a file with a presigned request, chunk by chunk. @throws Error if the connection breaks before storage has answered */
export async function putFile({ method, url, headers }: PresignedPut, file: string, options: Options): Promise<PutAnswer> {
  const { size, signal, onBytes } = options;
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const outgoing = send(url, { method, headers: { ...headers, 'content-length': size }, signal });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      yield chunk;
      onBytes(chunk.length);
    }
  };
  const sent = pipeline(createReadStream(file, { highWaterMark: chunkInBytes, end: size - 1 }), counted, outgoing);
  // Storage may refuse before it has read everything: then its answer counts, and not the broken pipe.
  const first = await Promise.race([answered, sent.then(() => answered)]);
  sent.catch(() => undefined);
  return { status: first.statusCode ?? 0, body: await text(first) };
}
