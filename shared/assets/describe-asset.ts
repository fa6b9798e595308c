import { assetEtag } from './asset-etag.ts';
import { inlineLimitInBytes, type Asset } from './asset.ts';
import type { Table } from '../table/table.ts';
import { getContent, presignDownload, type ContentStore } from './content-store.ts';
import { readAsset } from './read-asset.ts';

interface Described {
  etag: string;
  /** Undefined if the caller knows it. */
  asset?: Asset;
}

/**
 * Reads an asset. The result contains its content up to the inline limit, otherwise a presigned download.
 * @param isKnown whether the caller has the answer with this ETag, so that its content is not read. Not called for an answer with
 * a presigned download, which must always be new
 * @throws ServiceError `not_found`, also if the asset is deleted while it is read
 */
export async function describeAsset(
  table: Table,
  store: ContentStore,
  domain: string,
  id: string,
  now: string,
  isKnown?: (etag: string) => boolean,
): Promise<Described> {
  const asset = await readAsset(table, domain, id);
  const { content_key, size, file_name } = asset;
  const etag = assetEtag(asset);
  if (content_key !== null && size > inlineLimitInBytes) {
    return { etag, asset: { ...asset, download: await presignDownload(store, content_key, file_name, now) } };
  }
  if (isKnown?.(etag)) return { etag };
  if (content_key === null) return { etag, asset };
  const response = await getContent(store, content_key);
  if (!response) {
    await readAsset(table, domain, id);
    throw new Error('The content of an asset is missing in storage.');
  }
  return { etag, asset: { ...asset, asset: Buffer.from(await response.arrayBuffer()).toString('base64') } };
}
