import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Schemas } from '../api-types.ts';
import type { Client } from '../create-client.ts';
import { pause } from '../pause.ts';
import { ServiceProblem } from '../service-problem.ts';
import { storageAnswer } from '../storage-answer.ts';
import { hashFile } from './hash-file.ts';
import { putFile } from './put-file.ts';
import { renewUpload } from './renew-upload.ts';
import { type Cut, CutOffError, repeatTransfer } from './repeat-transfer.ts';

type Asset = Schemas['Asset'];

/** How far a transfer has come, in bytes. */
export interface TransferProgress {
  phase: 'hashing' | 'sending' | 'receiving';
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

const firstPauseInMilliseconds = 100;
const longestPauseInMilliseconds = 2_000;

/** What storage takes in one request. */
const largestInBytes = 5 * 1024 ** 3;

/** Reads how large a file is, and hashes it. @returns its SHA3-256 in hex as `checksum` @throws ServiceProblem if it is too large */
export async function measure({ file, onProgress, signal }: ContentOptions): Promise<{ size: number; checksum: string }> {
  const { size } = await stat(file);
  if (size > largestInBytes) {
    const detail = `${basename(file)} has ${size} bytes. An asset has at most 5 GiB.`;
    throw new ServiceProblem({ status: 413, code: 'too_large', detail, request: `upload of ${basename(file)}` });
  }
  const onBytes = (done: number) => onProgress?.({ phase: 'hashing', done, total: size });
  return { size, checksum: await hashFile(file, { onBytes, signal }) };
}

/**
 * Sends the content of a pending asset to storage, and returns the asset when the service has hashed it.
 * @param size of the file, at least 1
 * @throws ServiceProblem if the service or storage refuses; CutOffError after five minutes without progress; Error if the
 *   file cannot be read; the signal's reason
 */
export async function sendContent(client: Client, asset: Asset, size: number, options: ContentOptions): Promise<Asset> {
  const { domainID, file, onProgress, onCut, signal } = options;
  const { id } = asset;
  let { upload } = asset;
  let furthest = 0;
  const onBytes = (done: number) => {
    furthest = Math.max(furthest, done);
    onProgress?.({ phase: 'sending', done, total: size });
  };
  const send = async () => {
    const isRenewed = !upload;
    upload ??= await renewUpload(client, { domainID, id, signal });
    if (!upload) return; // the content has arrived, although the answer was lost
    onBytes(0);
    const { status, body } = await putFile(upload, file, { size, signal, onBytes });
    const answer = storageAnswer(status, body);
    if (answer === 'arrived') return;
    if (answer === 'refused' || (answer === 'expired' && isRenewed)) throw refusal(status, body);
    if (answer === 'expired') upload = undefined;
    throw new CutOffError(`Storage answered ${status}`);
  };
  await repeatTransfer(send, { signal, onCut, furthest: () => furthest });
  return await untilReady(client, { domainID, id, signal });
}

async function untilReady(client: Client, place: { domainID: string | undefined; id: string; signal: AbortSignal | undefined }) {
  for (let next = firstPauseInMilliseconds; ; next = Math.min(next * 2, longestPauseInMilliseconds)) {
    const asset = await client.getAsset(place);
    if (asset.state === 'ready') return asset;
    await pause(next, place.signal);
  }
}

/** @throws ServiceProblem if the service has another hash */
export function expectChecksum(asset: Asset, checksum: string): Asset {
  if (asset.checksum === checksum) return asset;
  const detail = `The service has the hash ${asset.checksum ?? 'none'} for ${asset.file_name}, but the file has ${checksum}.`;
  throw new ServiceProblem({ status: 200, code: 'unexpected', detail, request: `upload of ${asset.file_name}` });
}

function refusal(status: number, body: string): ServiceProblem {
  const detail = `Storage refused the content with the status ${status}: ${body.slice(0, 300)}`;
  return new ServiceProblem({ status, code: 'unexpected', detail, request: 'PUT to storage' });
}
