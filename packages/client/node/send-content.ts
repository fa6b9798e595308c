import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Client } from '../calls/create-client.ts';
import { ServiceProblem } from '../calls/service-problem.ts';
import type { Schemas } from '../generated/api-types.ts';
import { renewUpload } from '../transfer/renew-upload.ts';
import type { Cut } from '../transfer/repeat-transfer.ts';
import { sendToStorage } from '../transfer/send-to-storage.ts';
import { largestUploadInBytes } from '../transfer/sizes.ts';
import { untilHashed } from '../transfer/until-hashed.ts';

type Asset = Schemas['Asset'];

/** How far a transfer has come, in bytes. */
export interface TransferProgress {
  /** `waiting` for the service, which hashes content that has arrived. */
  phase: 'hashing' | 'sending' | 'waiting' | 'receiving';
  done: number;
  total: number;
}

export interface ContentOptions {
  domainID?: string | undefined;
  /** The path of the file. */
  file: string;
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  /** Called when a transfer was cut off, before it is repeated. */
  onCut?: ((cut: Cut) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Reads how large a file is, and hashes it. @returns its SHA3-256 in hex as `checksum` @throws ServiceProblem if it is too large */
export async function measureFile({ file, onProgress, signal }: ContentOptions): Promise<{ size: number; checksum: string }> {
  const { size } = await stat(file);
  if (size > largestUploadInBytes) {
    const detail = tooLarge(file, size);
    throw new ServiceProblem({ status: 413, code: 'too_large', detail, request: `upload of ${basename(file)}` });
  }
  const onBytes = (done: number) => onProgress?.({ phase: 'hashing', done, total: size });
  onBytes(0);
  return { size, checksum: await hashFile(file, { onBytes, signal }) };
}

export function tooLarge(file: string, size: number): string {
  return `${basename(file)} has ${size} bytes. An asset has at most 5 GiB.`;
}

/**
 * Sends the content of a pending asset, and returns the asset when the service has hashed it.
 * @param size of the file, at least 1
 * @throws as uploadAsset
 */
export async function sendContent(client: Client, asset: Asset, size: number, options: ContentOptions): Promise<Asset> {
  const { domainID, file, onProgress, onCut, signal } = options;
  const { id } = asset;
  let furthest = 0;
  const onBytes = (done: number) => {
    furthest = Math.max(furthest, done);
    onProgress?.({ phase: 'sending', done, total: size });
  };
  await sendToStorage(asset.upload, {
    put: (link) => {
      onBytes(0);
      return putFile(link, file, { size, signal, onBytes });
    },
    renew: () => renewUpload(client, { domainID, id, signal }),
    furthest: () => furthest,
    onCut,
    signal,
  });
  const onPending = () => onProgress?.({ phase: 'waiting', done: size, total: size });
  onPending();
  return await untilHashed(client, { domainID, id, size, onPending, signal });
}

/** @throws ServiceProblem if the service has another hash */
export function expectChecksum(asset: Asset, checksum: string): Asset {
  if (asset.checksum === checksum) return asset;
  const detail = `The service has the hash ${asset.checksum ?? 'none'} for ${asset.file_name}, but the file has ${checksum}.`;
  throw new ServiceProblem({ status: 200, code: 'unexpected', detail, request: `upload of ${asset.file_name}` });
}

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
 * Sends a file with a presigned request. Not with `fetch`, which keeps chunks in memory that storage has not taken.
 * @throws Error if the connection breaks or is silent for a minute; the signal's reason
 */
async function putFile(
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
