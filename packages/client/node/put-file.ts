import { createReadStream } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** A presigned request that uploads content. */
interface PresignedPut {
  method: string;
  url: string;
  headers: Record<string, string>;
}

interface PutOptions {
  /** How many bytes of the file to send, at least 1. */
  size: number;
  signal?: AbortSignal | undefined;
  /** Gets how many bytes were sent so far. */
  onBytes?: ((done: number) => void) | undefined;
}

const chunkInBytes = 256 * 1024;
/** A connection that carries nothing for so long counts as broken: after a sleep or on another network, nothing says that it is. */
export const silenceInMilliseconds = 60_000;

/**
 * Sends a file with a presigned request, chunk by chunk. Not with `fetch`, which would keep chunks that storage has not taken.
 * @throws Error if the connection breaks before storage has answered, or carries nothing for a minute; the signal's reason
 */
export async function putFile(
  { method, url, headers }: PresignedPut,
  file: string,
  { size, signal, onBytes }: PutOptions,
): Promise<{ status: number; body: string }> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const outgoing = send(url, {
    method,
    headers: { ...headers, 'content-length': size },
    timeout: silenceInMilliseconds,
    ...(signal ? { signal } : {}),
  });
  outgoing.once('timeout', () =>
    outgoing.destroy(Object.assign(new Error('Nothing was transferred for a minute'), { code: 'ETIMEDOUT' })),
  );
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  let done = 0;
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      yield chunk;
      done += chunk.length;
      onBytes?.(done);
    }
  };
  const content = createReadStream(file, { highWaterMark: chunkInBytes, end: size - 1 });
  const sent = pipeline(content, counted, outgoing);
  // Storage may refuse before it has read everything: then its answer counts, and not the broken pipe.
  const answer = await Promise.race([answered, sent.then(() => answered)]);
  sent.catch(() => undefined);
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}
