import { assetKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { inlineLimitInBytes, type Asset, type StoredAsset } from './asset.ts';
import { parseContentReads, recordContentRead } from './content-reads.ts';
import { getContent, presignDownload, type ContentStore } from './content-store.ts';
import { assetKey, parseAsset, readAsset } from './read-asset.ts';

interface Request {
  domain: string;
  id: string;
  /** The user who reads. */
  by: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
}

/**
 * Reads an asset. If the user may have its content, the result contains it up to the inline limit, otherwise a presigned
 * download. The creator also gets the reads of the content by others. A read by someone else is recorded before the content is
 * returned.
 * @throws ServiceError `not_found`, also if the asset is deleted while it is read
 */
export async function describeAsset(table: Table, store: ContentStore, { domain, id, by, now }: Request): Promise<Asset> {
  const [row, reads] = await getItems(table, [assetKey(domain, id), assetKeys.contentReads(id)]);
  const asset = parseAsset(row, id);
  const isCreator = by === asset.created_by;
  if (!isCreator && asset.content_access !== 'domain') return { ...asset, content_withheld: true };
  const content = await contentOf(table, store, domain, asset, now);
  if (isCreator) return { ...asset, ...content, content_reads: parseContentReads(reads) };
  if (content) await recordContentRead(table, { domain, assetId: id, user: by, now });
  return { ...asset, ...content };
}

type Content = Pick<Asset, 'asset'> | Pick<Asset, 'download'>;

async function contentOf(
  table: Table,
  store: ContentStore,
  domain: string,
  { id, content_key, size, file_name }: StoredAsset,
  now: string,
): Promise<Content | undefined> {
  if (content_key === null) return undefined;
  if (size > inlineLimitInBytes) return { download: await presignDownload(store, content_key, file_name, now) };
  const response = await getContent(store, content_key);
  if (!response) {
    await readAsset(table, domain, id);
    throw new Error('The content of an asset is missing in storage.');
  }
  return { asset: Buffer.from(await response.arrayBuffer()).toString('base64') };
}
