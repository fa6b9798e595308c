import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { CallOptions, Client } from '../calls/create-client.ts';
import { ServiceProblem } from '../calls/service-problem.ts';
import { serverAddress } from '../calls/web-address.ts';
import type { Schemas } from '../generated/api-types.ts';
import { renewUpload } from '../transfer/renew-upload.ts';
import type { Cut } from '../transfer/repeat-transfer.ts';
import { sendToStorage } from '../transfer/send-to-storage.ts';
import { largestUploadInBytes } from '../transfer/sizes.ts';
import { untilHashed } from '../transfer/until-hashed.ts';

type Asset = Schemas['Asset'];

export interface TransferProgress {
  /** The step of the transfer. `waiting`: all content has arrived, and the service hashes it. */
  phase: 'hashing' | 'sending' | 'waiting' | 'receiving';
  done: number;
  total: number;
}

export interface ContentOptions extends CallOptions {
  /** The path of the file to send. */
  file: string;
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  onCut?: ((cut: Cut) => void) | undefined;
}

/** The size, time of change and checksum of a file at the moment when it was hashed. */
export interface MeasuredFile {
  size: number;
  mtimeMs: number;
  /** The SHA3-256 of the file in hex, which agents verify. */
  checksum: string;
}

/**
 * Hashes a file, and returns its size, time of change and checksum.
 * @throws ServiceProblem if the file is larger than 5 GiB; FileChangedError if it changes meanwhile
 */
export async function measureFile({ file, onProgress, signal }: ContentOptions): Promise<MeasuredFile> {
  const before = await stat(file);
  const { size, mtimeMs } = before;
  if (size > largestUploadInBytes) {
    const detail = tooLarge(file, size);
    throw new ServiceProblem({ status: 413, code: 'too_large', detail, request: `upload of ${basename(file)}` });
  }
  const hash = createHash('sha3-256');
  const onBytes = (done: number) => onProgress?.({ phase: 'hashing', done, total: size });
  onBytes(0);
  for await (const chunk of unchanged(file, before, { onBytes, signal })) hash.update(chunk);
  return { size, mtimeMs, checksum: hash.digest('hex') };
}

/** The error for a file that has changed since its transfer began. */
export class FileChangedError extends Error {
  override readonly name = 'FileChangedError';

  constructor(file: string) {
    super(`${basename(file)} changed while it was read. Wait until nothing writes to it.`);
  }
}

type Seen = Pick<MeasuredFile, 'size' | 'mtimeMs'>;

interface ReadOptions {
  signal?: AbortSignal | undefined;
  onBytes?: ((done: number) => void) | undefined;
}

const chunkInBytes = 256 * 1024;

/**
 * Reads a file in chunks of 256 KiB, and checks after each that its size and time of change are as before.
 * @throws FileChangedError at the first chunk after a change
 */
async function* unchanged(file: string, seen: Seen, { signal, onBytes }: ReadOptions): AsyncGenerator<Buffer, void, undefined> {
  const handle = await open(file);
  try {
    for (let done = 0; ;) {
      signal?.throwIfAborted();
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkInBytes), 0, chunkInBytes, done);
      const isEnd = bytesRead === 0;
      const { size, mtimeMs } = await handle.stat();
      if (size !== seen.size || mtimeMs !== seen.mtimeMs || (isEnd && done !== size)) throw new FileChangedError(file);
      if (isEnd) return;
      yield buffer.subarray(0, bytesRead);
      done += bytesRead;
      onBytes?.(done);
    }
  } finally {
    await handle.close();
  }
}

export function tooLarge(file: string, size: number): string {
  return `${basename(file)} has ${size} bytes. An asset has at most 5 GiB.`;
}

/**
 * Sends the content of an asset to storage, and returns the asset when the service has hashed the content.
 * @param seen the size and time of change of the file when it was hashed; at least one byte
 * @throws ServiceProblem if the service or storage refuses; CutOffError after five minutes without progress; FileChangedError;
 *   the signal's reason
 */
export async function sendContent(client: Client, asset: Asset, seen: Seen, options: ContentOptions): Promise<Asset> {
  const { size } = seen;
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
      return putFile(link, file, { seen, signal, onBytes });
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

/** Returns the asset, if it has the checksum of the file that was sent. @throws ServiceProblem if the service has another hash */
export function expectChecksum(asset: Asset, checksum: string): Asset {
  if (asset.checksum === checksum) return asset;
  const detail = `The service has the hash ${asset.checksum ?? 'none'} for ${asset.file_name}, but the file has ${checksum}.`;
  throw new ServiceProblem({ status: 200, code: 'unexpected', detail, request: `upload of ${asset.file_name}` });
}

/**
 * The milliseconds without progress after which a connection counts as broken. After a sleep of this machine, or a change of its
 * network, nothing else tells.
 */
export const silenceInMilliseconds = 60_000;

/**
 * Sends a file to storage by a presigned request. Does not use `fetch`, which keeps chunks in memory that storage has not taken.
 * @throws Error if the connection breaks or is silent for a minute; FileChangedError; the signal's reason
 */
async function putFile(
  { method, url, headers }: Schemas['AssetUpload'],
  file: string,
  { seen, signal, onBytes }: ReadOptions & { seen: Seen },
): Promise<{ status: number; body: string }> {
  const send = serverAddress(url).protocol === 'https:' ? httpsRequest : httpRequest;
  const outgoing = send(url, {
    method,
    headers: { ...headers, 'content-length': seen.size },
    timeout: silenceInMilliseconds,
    ...(signal ? { signal } : {}),
  });
  outgoing.once('timeout', () =>
    outgoing.destroy(Object.assign(new Error('Nothing was transferred for a minute'), { code: 'ETIMEDOUT' })),
  );
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  const sent = pipeline(unchanged(file, seen, { signal, onBytes }), outgoing);
  // Storage may refuse before it has read everything: then its answer counts, and not the broken pipe.
  const answer = await Promise.race([answered, sent.then(() => answered)]);
  sent.catch(() => undefined);
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}
