import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Schemas } from '../api-types.ts';
import type { Client } from '../create-client.ts';
import { pause } from '../pause.ts';
import { ServiceProblem } from '../service-problem.ts';
import { hashFile } from './hash-file.ts';
import { putFile } from './put-file.ts';
import { type Cut, CutOffError, repeatTransfer } from './repeat-transfer.ts';

type Asset = Schemas['Asset'];
type Fields = Omit<Schemas['AssetInputFields'], 'asset' | 'checksum' | 'file_name'>;

/** How far a transfer has come, in bytes. */
export interface TransferProgress {
  phase: 'hashing' | 'sending' | 'receiving';
  done: number;
  total: number;
}

export interface UploadOptions extends Fields {
  domainID?: string | undefined;
  /** The path of the file. */
  file: string;
  /** The name of the asset. Default: that of the file. */
  file_name?: string | undefined;
  /**
   * A repeat with the same key within 24 hours goes on with the asset that the first one created. Default: made of the content's hash
   * and the fields, so that repeating an upload that was killed does not create a second asset.
   */
  idempotencyKey?: string | undefined;
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  /** Called when a transfer was cut off, before it is repeated. */
  onCut?: ((cut: Cut) => void) | undefined;
  signal?: AbortSignal | undefined;
}

interface Content {
  file: string;
  size: number;
  checksum: string;
}

/** Content up to this size goes with the request that creates the asset. */
const inlineLimitInBytes = 4 * 1024 * 1024;
const firstPauseInMilliseconds = 100;
const longestPauseInMilliseconds = 2_000;

/**
 * Creates an asset with the content of a file of up to 5 GiB, and returns it when the service has hashed the content. Sends large
 * content straight to storage, and again if the connection breaks. Keeps at most 4 MiB of it in memory.
 * @throws ServiceProblem if the service or storage refuses, or the service computes another hash; Error if the file cannot be read;
 *   the signal's reason
 */
export async function uploadAsset(client: Client, options: UploadOptions): Promise<Asset> {
  const { file, domainID, file_name = basename(file), idempotencyKey, onProgress, onCut: _, signal, ...fields } = options;
  const { size } = await stat(file);
  const onBytes = (done: number) => onProgress?.({ phase: 'hashing', done, total: size });
  const checksum = await hashFile(file, { onBytes, signal });
  const named = { ...fields, file_name };
  const inline = size <= inlineLimitInBytes ? { asset: (await readFile(file)).toString('base64') } : {};
  const body = { asset: { ...named, ...inline } };
  const key = idempotencyKey ?? keyOf(named, checksum);
  const { data, response } = await client.call('createAsset', { domainID, body, idempotencyKey: key, signal });
  if (data === undefined) throw new TypeError('The service created an asset and returned none.');
  let asset: Asset | undefined = data;
  if (response.headers.get('idempotent-replayed') === 'true') asset = await present(client, data, { checksum, options });
  asset ??= await client.createAsset({ domainID, body, signal });
  if (asset.state === 'ready') return expected(asset, checksum);
  return await sendContent(client, asset, { file, size, checksum }, options);
}

/** Returns what the asset of an earlier upload is now. Undefined if it was deleted, or has other content since. */
async function present(
  client: Client,
  { id, upload }: Asset,
  { checksum, options: { domainID, signal } }: { checksum: string; options: UploadOptions },
): Promise<Asset | undefined> {
  try {
    const asset = await client.getAsset({ domainID, id, signal });
    if (asset.state === 'pending') return { ...asset, ...(upload ? { upload } : {}) };
    return asset.checksum === checksum ? asset : undefined;
  } catch (error) {
    if (error instanceof ServiceProblem && error.code === 'not_found') return undefined;
    throw error;
  }
}

/**
 * Sends the content of a pending asset to storage, and returns the asset when the service has hashed it.
 * @throws as uploadAsset
 */
async function sendContent(client: Client, asset: Asset, content: Content, options: UploadOptions): Promise<Asset> {
  const { domainID, onProgress, onCut, signal } = options;
  const { file, size, checksum } = content;
  const { id } = asset;
  let { upload } = asset;
  const onBytes = (done: number) => onProgress?.({ phase: 'sending', done, total: size });
  const send = async () => {
    upload ??= (await client.updateAsset({ domainID, id, body: { asset }, signal })).upload;
    if (!upload) return; // the content has arrived, although the answer was lost
    onBytes(0);
    const { status, body } = await putFile(upload, file, { size, signal, onBytes });
    if (status === 412) return; // an earlier attempt has arrived, although its answer was lost
    if (status === 403) upload = undefined; // the link has expired
    if (status === 403 || status === 429 || status >= 500) throw new CutOffError(`Storage answered ${status}`);
    if (status >= 300) throw refusal(status, body);
  };
  await repeatTransfer(send, { signal, onCut, kept: () => 0 });
  return expected(await untilReady(client, { domainID, id, signal }), checksum);
}

async function untilReady(client: Client, place: { domainID: string | undefined; id: string; signal: AbortSignal | undefined }) {
  for (let next = firstPauseInMilliseconds; ; next = Math.min(next * 2, longestPauseInMilliseconds)) {
    const asset = await client.getAsset(place);
    if (asset.state === 'ready') return asset;
    await pause(next, place.signal);
  }
}

/** The same for the same fields and content, in whatever order the fields are given. */
function keyOf(fields: object, checksum: string): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return `upload-${createHash('sha256')
    .update(JSON.stringify([sorted, checksum]))
    .digest('hex')}`;
}

function expected(asset: Asset, checksum: string): Asset {
  if (asset.checksum === checksum) return asset;
  const detail = `The service has the hash ${asset.checksum ?? 'none'} for ${asset.file_name}, but the file has ${checksum}.`;
  throw new ServiceProblem({ status: 200, code: 'unexpected', detail, request: `upload of ${asset.file_name}` });
}

function refusal(status: number, body: string): ServiceProblem {
  const detail = `Storage refused the content with the status ${status}: ${body.slice(0, 300)}`;
  return new ServiceProblem({ status, code: 'unexpected', detail, request: 'PUT to storage' });
}
