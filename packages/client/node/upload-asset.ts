import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Client } from '../calls/create-client.ts';
import { ServiceProblem } from '../calls/service-problem.ts';
import type { Schemas } from '../generated/api-types.ts';
import { changeForUpload } from '../transfer/renew-upload.ts';
import { type ContentOptions, expectChecksum, FileChangedError, measureFile, sendContent } from './send-content.ts';

type Asset = Schemas['Asset'];
type Fields = Omit<Schemas['AssetInputFields'], 'asset' | 'checksum' | 'file_name'>;

export interface UploadOptions extends Fields, ContentOptions {
  /** The file name of the asset. Default: the name of the file that is uploaded. */
  file_name?: string | undefined;
  /**
   * The idempotency key of the asset's creation: a repeat with the same key within 24 hours continues with the same asset.
   * Default: made of the hash of the content and the fields.
   */
  idempotencyKey?: string | undefined;
}

/**
 * The largest content that is sent within the request that creates the asset, in bytes. A request has a minute, and in base64
 * these bytes take 44 seconds at 128 kbit/s.
 */
const inlineLimitInBytes = 512 * 1024;

/**
 * Creates an asset with the content of a file of up to 5 GiB. Returns the asset when the service has hashed the content.
 * @throws ServiceProblem if the service or storage refuses, or the service computes another hash; CutOffError after five minutes
 *   without progress; FileChangedError; Error if the file cannot be read; the signal's reason
 */
export async function uploadAsset(client: Client, options: UploadOptions): Promise<Asset> {
  const { file, domainID, file_name = basename(file), idempotencyKey, onProgress: _, onCut: __, signal, ...fields } = options;
  const measured = await measureFile(options);
  const { size, checksum } = measured;
  const named = inOrder({ ...fields, file_name });
  const inline = size <= inlineLimitInBytes ? { asset: await inlineContent(file, checksum) } : {};
  const body = { asset: { ...named, ...inline } };
  let asset: Asset | undefined;
  for (let key = idempotencyKey ?? keyOf(Object.entries(named), checksum); !asset;) {
    const { data, response } = await client.call('createAsset', { domainID, body, idempotencyKey: key, signal });
    if (data === undefined) throw new TypeError('The service created an asset and returned none.');
    const isReplayed = response.headers.get('idempotent-replayed') === 'true';
    asset = isReplayed ? await present(client, data, { checksum, options }) : data;
    key = keyOf(key, data.id); // a repeat gets this key too, and so the asset that takes the place of the first one
  }
  if (asset.state !== 'ready') asset = await sendContent(client, asset, measured, options);
  return expectChecksum(asset, checksum);
}

/**
 * Returns the content of a file in base64.
 * @throws FileChangedError if the content has another hash than when the file was measured
 */
async function inlineContent(file: string, checksum: string): Promise<string> {
  const content = await readFile(file);
  if (createHash('sha3-256').update(content).digest('hex') !== checksum) throw new FileChangedError(file);
  return content.toString('base64');
}

/**
 * Reads an asset that an earlier, identical upload has created. Leaves out the link to send content to, because what was sent
 * with the first link may have arrived.
 * @returns undefined if the asset was deleted or has other content by now
 */
async function present(
  client: Client,
  { id }: Asset,
  { checksum, options: { domainID, signal } }: { checksum: string; options: UploadOptions },
): Promise<Asset | undefined> {
  try {
    const { upload: _, ...asset } = await client.getAsset({ domainID, id, signal });
    return asset.state === 'pending' || asset.checksum === checksum ? asset : undefined;
  } catch (error) {
    if (error instanceof ServiceProblem && error.code === 'not_found') return undefined;
    throw error;
  }
}

/**
 * Sorts fields by name and drops those without a value, so that a repeat with the fields in another order makes the same body and
 * the same idempotency key.
 */
function inOrder<Given extends object>(fields: Given): Given {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.sort(([a], [b]) => (a < b ? -1 : 1))) as Given;
}

function keyOf(...parts: unknown[]): string {
  return `upload-${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
}

export interface UploadContentOptions extends ContentOptions {
  id: string;
  /**
   * Called before the content is sent if the asset was created with the hash of another file (`named`): the content, with the
   * hash `found`, may be a sample of that file.
   */
  onOtherHash?: ((hashes: { named: string; found: string }) => void) | undefined;
}

/**
 * Uploads a file of up to 5 GiB as the content of an asset that has none. Returns the asset when the service has hashed the
 * content. Sends nothing if the asset has the same content already. A repeated upload of a sample cannot be recognized, because
 * its asset keeps the hash of the real file.
 * @throws ServiceProblem `conflict` if the asset has other content, `forbidden` if it is another user's; all that `uploadAsset`
 *   throws
 */
export async function uploadContent(client: Client, options: UploadContentOptions): Promise<Asset> {
  const { domainID, id, onOtherHash, signal } = options;
  const measured = await measureFile(options);
  const { size, checksum } = measured;
  const { data: found, response } = await client.call('getAsset', { domainID, id, signal });
  if (found === undefined) throw new TypeError('The service returned no asset.');
  if (found.state === 'ready') {
    if (found.checksum === checksum) return found;
    const detail = hasContent(found, checksum);
    throw new ServiceProblem({ status: 409, code: 'conflict', detail, request: `upload of the asset ${id}` });
  }
  const content = size === 0 ? { asset: '', checksum: null } : {}; // with content, the hash of the real file would be refused
  const etag = response.headers.get('etag');
  const asset = await changeForUpload(client, { domainID, id, signal }, { asset: found, etag, content });
  // A checksum that was given before is that of the real file. The content may be a sample of it.
  const expected = found.checksum ?? checksum;
  if (expected !== checksum) onOtherHash?.({ named: expected, found: checksum });
  return expectChecksum(asset.state === 'ready' ? asset : await sendContent(client, asset, measured, options), expected);
}

export interface UploadResultOptions extends ContentOptions {
  /** The identifier of the computation. */
  id: string;
  /** The identifier of the run whose result the file is. */
  run: string;
  /** The name of the file for its readers. */
  file_name: string;
}

/**
 * Hands in a file as the result of a run, for its review, and uploads it. Returns the asset when the service has hashed the content. Sends
 * nothing if this file was handed in already.
 * @throws ServiceProblem `conflict` if a reviewer has decided or the run has not completed, `forbidden` for others than reviewers
 */
export async function uploadResult(client: Client, options: UploadResultOptions): Promise<Asset> {
  const { domainID, id, run, file_name, signal } = options;
  const measured = await measureFile(options);
  const { size, checksum } = measured;
  const { result } = await client.getRun({ domainID, id, run, signal });
  const before = result?.checksum === checksum ? result.asset : null;
  const found = before === null ? undefined : await client.getAsset({ domainID, id: before, signal });
  if (found?.state === 'ready') return found;
  const body = { file_name, size, checksum };
  const asset = found?.upload ? found : await client.handInResult({ domainID, id, run, body, signal });
  return expectChecksum(await sendContent(client, asset, measured, options), checksum);
}

function hasContent({ file_name, checksum }: Asset, found: string): string {
  const repeated = 'If you have sent this file before as a sample, it has arrived.';
  return `${file_name} has content already, under the hash ${checksum ?? 'none'}. This file has the hash ${found}. ${repeated} Otherwise create another asset for it.`;
}
