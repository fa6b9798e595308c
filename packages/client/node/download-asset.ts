import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import type { Schemas } from '../generated/api-types.ts';
import type { Client } from '../calls/create-client.ts';
import { ServiceProblem } from '../calls/service-problem.ts';
import { serverAddress } from '../calls/web-address.ts';
import { CutOffError, repeatTransfer } from '../transfer/repeat-transfer.ts';
import { type ContentOptions, silenceInMilliseconds } from './send-content.ts';

type Asset = Schemas['Asset'];

export interface DownloadOptions extends ContentOptions {
  id: string;
  /** The path of the file to write. Until the file is complete, its name ends with the last 12 characters of `id` and `.part`. */
  file: string;
  /** True to throw an error if the file exists, instead of replacing it. Default: false. */
  mustBeNew?: boolean | undefined;
}

interface Part {
  path: string;
  size: number;
  hash: Hash;
}

/**
 * Downloads the content of an asset to a file, or continues an earlier download of the same asset. The file exists only when it
 * is complete and has the hash of the asset.
 * @throws ServiceProblem if there is no content for the caller, or the hash of the content differs; CutOffError after five
 *   minutes without progress; Error `EEXIST` for a file that must be new, `EISDIR` for a path that is not the name of a file; the
 *   signal's reason
 */
export async function downloadAsset(client: Client, options: DownloadOptions): Promise<Asset> {
  const { domainID, id, mustBeNew = false, signal } = options;
  const file = await realpath(options.file).catch(() => options.file); // `rename` would replace a link by the file
  const mode = await modeOf(file);
  if (mustBeNew && mode !== undefined) throw Object.assign(new Error(`${file} exists.`), { code: 'EEXIST' });
  const asset = await client.getAsset({ domainID, id, signal });
  if (asset.content_withheld === true) {
    throw problem(403, 'forbidden', `Only ${asset.created_by} gets the content of ${asset.file_name}.`, asset);
  }
  if (asset.source) {
    const { url } = asset.source;
    const where = url === undefined ? 'its party sends it, encrypted' : `the agent fetches it from ${url}`;
    throw problem(404, 'not_found', `The service has no content of ${asset.file_name}: ${where}.`, asset);
  }
  if (asset.state === 'pending') throw problem(404, 'not_found', `The content of ${asset.file_name} has not arrived yet.`, asset);
  const path = join(dirname(file), partName(basename(file), id));
  if (asset.asset === undefined) await receiveAt(path, client, asset, options);
  else {
    const content = Buffer.from(asset.asset, 'base64');
    expectHash(asset, createHash('sha3-256').update(content).digest('hex'));
    await writeFile(path, content);
  }
  if (mustBeNew) await (await open(file, 'wx')).close(); // `rename` would replace another one
  if (mode !== undefined) await chmod(path, mode);
  await rename(path, file);
  return asset;
}

const longestNameInBytes = 255;

/**
 * Returns the name of the incomplete file of a download: the final name with the end of the asset's identifier and `.part`. A
 * final name that is too long is replaced by its hash.
 */
function partName(name: string, id: string): string {
  const part = `${name}.${id.slice(-12)}.part`;
  if (Buffer.byteLength(part) <= longestNameInBytes) return part;
  return `${createHash('sha256').update(name).digest('hex')}.${id.slice(-12)}.part`;
}

/**
 * Returns the permissions of the file that a download replaces. Undefined if there is no such file.
 * @throws Error `EISDIR` if the path is not the name of a file
 */
async function modeOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined);
  const isName = file !== '' && !file.endsWith('/') && !file.endsWith(sep);
  if (isName && found?.isFile() !== false) return found && found.mode & 0o777;
  throw Object.assign(new Error(`${file} is not the name of a file.`), { code: 'EISDIR' });
}

/**
 * Downloads the content of an asset to a file, after the part that an earlier download left there. Begins again if that part
 * turns out to be of other content.
 */
async function receiveAt(path: string, client: Client, asset: Asset, options: DownloadOptions): Promise<void> {
  for (;;) {
    const part = await partAt(path, asset.size ?? 0, options);
    const hadPart = part.size > 0;
    await receive(client, asset, part, options);
    const found = part.hash.digest('hex');
    if (found === asset.checksum) return;
    await rm(path);
    if (!hadPart) expectHash(asset, found);
  }
}

async function receive(client: Client, asset: Asset, part: Part, options: DownloadOptions): Promise<void> {
  const { domainID, onProgress, onCut, signal } = options;
  const { id } = asset;
  const total = asset.size ?? 0;
  const report = () => onProgress?.({ phase: 'receiving', done: part.size, total });
  let link = asset.download?.url;
  report();
  const attempt = async () => {
    if (part.size >= total) return;
    const isNew = link === undefined;
    link ??= (await client.getAsset({ domainID, id, signal })).download?.url;
    if (link === undefined) throw problem(404, 'not_found', `${asset.file_name} has no content any more.`, asset);
    const url = link;
    await untilSilent(signal, async (signal, heard) => {
      const response = await fetch(serverAddress(url), { headers: { range: `bytes=${part.size}-` }, signal, redirect: 'error' });
      const hasExpired = response.status === 403 && !isNew;
      if (hasExpired || response.status === 429 || response.status >= 500) {
        if (hasExpired) link = undefined;
        throw new CutOffError(`Storage answered ${response.status}`);
      }
      if (!response.ok || !response.body) {
        throw problem(response.status, 'unexpected', `Storage refused with the status ${response.status}.`, asset);
      }
      if (response.status !== 206) Object.assign(part, { size: 0, hash: createHash('sha3-256') });
      await append(part, response.body, () => {
        heard();
        report();
      });
    });
    if (part.size < total) throw new CutOffError('The connection was closed');
  };
  await repeatTransfer(attempt, { signal, onCut, furthest: () => part.size });
}

/**
 * Runs a transfer, and ends it by its signal when it has not called `heard` for a minute.
 * @throws CutOffError after such a minute; what the transfer throws
 */
async function untilSilent(
  signal: AbortSignal | undefined,
  transfer: (signal: AbortSignal, heard: () => void) => Promise<void>,
): Promise<void> {
  const silence = new AbortController();
  const end = () => silence.abort(new CutOffError('Nothing was transferred for a minute'));
  const timer = setTimeout(end, silenceInMilliseconds);
  try {
    await transfer(AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]), () => timer.refresh());
  } catch (error) {
    silence.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function append(part: Part, chunks: AsyncIterable<Uint8Array>, report: () => void): Promise<void> {
  const handle = await open(part.path, part.size === 0 ? 'w' : 'a');
  try {
    for await (const chunk of chunks) {
      await handle.appendFile(chunk);
      part.hash.update(chunk);
      part.size += chunk.length;
      report();
    }
  } finally {
    await handle.close();
  }
}

async function partAt(path: string, total: number, { onProgress, signal }: DownloadOptions): Promise<Part> {
  const hash = createHash('sha3-256');
  const found = await stat(path).catch(() => undefined);
  if (!found || found.size > total) return { path, size: 0, hash };
  let size = 0;
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 256 * 1024, ...(signal ? { signal } : {}) });
  for await (const chunk of chunks) {
    hash.update(chunk);
    size += chunk.length;
    onProgress?.({ phase: 'hashing', done: size, total: found.size });
  }
  return { path, size, hash };
}

/**
 * Checks that downloaded content has the checksum of its asset. The checksum may be that of a real file of which only a sample
 * was uploaded.
 * @throws ServiceProblem if the hash differs
 */
function expectHash(asset: Asset, found: string): void {
  if (asset.checksum === found) return;
  const detail = `The content of ${asset.file_name} has the hash ${found}, but the service says ${asset.checksum ?? 'none'}. The content may be a sample. Then the service states the hash of the real file.`;
  throw problem(200, 'unexpected', detail, asset);
}

function problem(status: number, code: ServiceProblem['code'], detail: string, { id }: Asset): ServiceProblem {
  return new ServiceProblem({ status, code, detail, request: `download of the asset ${id}` });
}
