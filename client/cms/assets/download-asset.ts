import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { Schemas } from '../../api-types.ts';
import { CmsError } from '../cms-error.ts';
import type { Connection, Context } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { fileSize } from '../output/file-size.ts';
import { startProgress } from '../output/progress.ts';
import { repeatTransfer } from './repeat-transfer.ts';

type Asset = Schemas['Asset'];

/**
 * Downloads the content of an asset into a file, which exists only when it is complete and its hash is right. A download that was
 * cut off goes on where it was, also in a later command.
 * @returns the asset
 * @param sample whether the content may have another hash than the creator declared
 * @throws CmsError if the caller may not have the content, or it has another hash
 */
export async function downloadAsset(
  context: Context,
  connection: Connection,
  id: string,
  { output, sample = false }: { output?: string; sample?: boolean },
): Promise<{ asset: Asset; file: string }> {
  const asset = await connection.client.getAsset({ id });
  const target = output ?? asset.file_name;
  const expectChecksum = (found: string) => {
    if (!sample && asset.checksum !== found) throw otherHash(asset, found);
  };
  refuseWithout(asset);
  if (asset.asset !== undefined) {
    const content = Buffer.from(asset.asset, 'base64');
    expectChecksum(createHash('sha3-256').update(content).digest('hex'));
    await writeFile(target, content);
    return { asset, file: target };
  }
  const part = `${target}.part`;
  const hash = createHash('sha3-256');
  const progress = startProgress(context.terminal, `Downloading ${asset.file_name}`, asset.size);
  try {
    const checksum = await fetchInto(context, connection, asset, { part, hash, onBytes: progress.set });
    if (!sample && checksum !== asset.checksum) await rm(part, { force: true });
    expectChecksum(checksum);
  } finally {
    progress.stop();
  }
  await rename(part, target);
  return { asset, file: target };
}

interface Target {
  part: string;
  hash: Hash;
  onBytes: (count: number) => void;
}

/** Appends what is missing to the part, and returns the hash of everything. */
async function fetchInto(
  context: Context,
  { client }: Connection,
  asset: Asset,
  { part, hash, onBytes }: Target,
): Promise<string> {
  const { signal } = context.terminal;
  let link = asset.download?.url;
  let state = await resume(part, hash, asset.size);
  onBytes(state.size);
  await repeatTransfer(
    async () => {
      link ??= (await client.getAsset({ id: asset.id, signal })).download?.url;
      if (link === undefined || state.size >= asset.size) return;
      const response = await fetch(link, { headers: { range: `bytes=${state.size}-` }, signal });
      if (response.status === 403 || response.status >= 500) {
        link = undefined;
        throw Object.assign(new Error(`Storage answered ${response.status}`), { code: 'ECONNREFUSED' });
      }
      if (!response.ok || !response.body) throw new CmsError(`Storage refused the download with the status ${response.status}.`);
      if (response.status !== 206 && state.size > 0) state = { size: 0, hash: createHash('sha3-256') };
      const handle = await open(part, state.size === 0 ? 'w' : 'a');
      try {
        for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
          await handle.write(chunk);
          state.hash.update(chunk);
          state.size += chunk.length;
          onBytes(state.size);
        }
      } finally {
        await handle.close();
      }
      if (state.size < asset.size) throw Object.assign(new Error('The connection was closed'), { code: 'ECONNRESET' });
    },
    {
      signal,
      progressed: () => state.size,
      onCut: ({ message }) =>
        context.note(
          `The download of ${asset.file_name} was cut off after ${fileSize(state.size)} of ${fileSize(asset.size)}: ${message}. Going on.\n`,
        ),
    },
  );
  return state.hash.digest('hex');
}

/** Hashes what an earlier command has downloaded. */
async function resume(part: string, hash: Hash, total: number): Promise<{ size: number; hash: Hash }> {
  const found = await stat(part).catch(() => undefined);
  if (!found || found.size > total) return { size: 0, hash };
  for await (const chunk of createReadStream(part) as AsyncIterable<Buffer>) hash.update(chunk);
  return { size: found.size, hash };
}

function refuseWithout(asset: Asset): void {
  if (asset.content_withheld === true) {
    throw new CmsError(`Only ${asset.created_by}, the creator of ${asset.file_name}, gets its content.`, {
      exitCode: exitCodes.forbidden,
    });
  }
  if (asset.state === 'pending') {
    throw new CmsError(`The content of ${asset.file_name} has not arrived yet.`, { exitCode: exitCodes.notFound });
  }
}

function otherHash({ id, checksum, file_name }: Asset, found: string): CmsError {
  return new CmsError(
    `The content of ${file_name} has the hash ${found}, but its creator declared ${checksum ?? 'none'}. It may be a sample.`,
    { next: `cms asset download ${id} --sample` },
  );
}
