import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Schemas } from '../api-types.ts';
import type { Client } from '../create-client.ts';
import { ServiceProblem } from '../service-problem.ts';
import { renewUpload } from '../transfer/renew-upload.ts';
import type { Cut } from '../transfer/repeat-transfer.ts';
import { sendToStorage } from '../transfer/send-to-storage.ts';
import { largestUploadInBytes } from '../transfer/storage-limit.ts';
import { untilHashed } from '../transfer/until-hashed.ts';
import { hashFile } from './hash-file.ts';
import { putFile } from './put-file.ts';

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
 * Sends the content of a pending asset to storage, and returns the asset when the service has hashed it.
 * @param size of the file, at least 1
 * @throws ServiceProblem if the service or storage refuses, or has not hashed the content in time; CutOffError, or the ServiceProblem of
 *   the last attempt, after five minutes without progress; Error if the file cannot be read; the signal's reason
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
