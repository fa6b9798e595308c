import { createHash, randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { canonicalJson } from '../../../shared/canonical-json.ts';
import type { Schemas } from '../../api-types.ts';
import type { Arguments } from '../../operation.ts';
import { ServiceProblem } from '../../service-problem.ts';
import { CmsError } from '../cms-error.ts';
import type { Connection, Context } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { hashFile } from '../hash-file.ts';
import { startProgress } from '../output/progress.ts';
import { withHeaders } from '../with-headers.ts';
import { sendContent } from './send-content.ts';

type Asset = Schemas['Asset'];
export type AssetFields = Omit<Arguments<'createAsset'>['body']['asset'], 'asset' | 'checksum'>;

/** A file with its hash. */
export interface LocalContent {
  file: string;
  size: number;
  /** SHA3-256 in hex. */
  checksum: string;
}

/** Content up to this size goes with the request that creates the asset. */
const inlineLimitInBytes = 4 * 1024 * 1024;
const largestInBytes = 5 * 1024 ** 3;

/** @throws CmsError if the file cannot be read or is larger than the service takes */
export async function hashOf({ terminal }: Pick<Context, 'terminal'>, file: string): Promise<LocalContent> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new CmsError(`There is no file ${file}.`, { exitCode: exitCodes.usage });
  const { size } = found;
  if (size > largestInBytes) throw new CmsError(`${file} has more than 5 GiB, which the service does not take.`);
  const progress = startProgress(terminal, `Hashing ${basename(file)}`, size > inlineLimitInBytes ? size : 0);
  try {
    return { file, size, checksum: await hashFile(file, progress.add) };
  } finally {
    progress.stop();
  }
}

/**
 * Creates an asset with the content of a file. Can be repeated: a repeat within a day finds the asset that it created before, and
 * any later repeat the one that still waits for content of that name.
 * @returns the asset, and whether it was there already
 */
export async function uploadAsset(
  context: Context,
  connection: Connection,
  fields: AssetFields,
  content: LocalContent,
): Promise<{ asset: Asset; wasThere: boolean }> {
  const { asset, wasThere } = await createdAsset(connection, fields, content);
  if (asset.state === 'ready') return { asset, wasThere };
  return { asset: await sendContent(context, connection, asset, content), wasThere: false };
}

async function createdAsset(
  connection: Connection,
  fields: AssetFields,
  content: LocalContent,
): Promise<{ asset: Asset; wasThere: boolean }> {
  const { client } = connection;
  const isInline = content.size <= inlineLimitInBytes;
  const waiting = isInline ? undefined : await waitingAsset(connection, fields);
  if (waiting) return { asset: waiting, wasThere: false };
  const body = {
    asset: { ...fields, ...(isInline ? { asset: (await readFile(content.file)).toString('base64') } : {}) },
  };
  const idempotencyKey = keyOf(fields, content);
  const { data, headers } = await withHeaders(client.call('createAsset', { body, idempotencyKey }));
  if (headers.get('idempotent-replayed') !== 'true') return { asset: data, wasThere: false };
  const asset = await known(client.getAsset({ id: data.id }));
  if (asset?.state === 'ready' && asset.checksum === content.checksum) return { asset, wasThere: true };
  if (asset?.state === 'pending' && data.upload) return { asset: { ...asset, upload: data.upload }, wasThere: false };
  // It was deleted or has other content since.
  return { asset: await client.createAsset({ body, idempotencyKey: randomUUID() }), wasThere: false };
}

/** Finds an asset of the caller of this name and type that waits for its content, with an upload. */
async function waitingAsset({ client }: Connection, fields: AssetFields): Promise<Asset | undefined> {
  const { content } = await client.getTodo();
  for (const { asset_id } of content.filter(({ file_name }) => file_name === fields.file_name)) {
    const asset = await known(client.getAsset({ id: asset_id }));
    const fits = asset?.state === 'pending' && asset.asset_type === fields.asset_type && asset.checksum === null;
    if (fits) return await client.updateAsset({ id: asset_id, body: { asset: { ...asset, ...fields } } });
  }
  return undefined;
}

/** The key of a request that a repeat of the same upload repeats. */
function keyOf(fields: AssetFields, { checksum }: LocalContent): string {
  return `cms-${createHash('sha256').update(canonicalJson({ fields, checksum })).digest('hex')}`;
}

async function known<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ServiceProblem && error.code === 'not_found') return undefined;
    throw error;
  }
}
