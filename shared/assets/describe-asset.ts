import { inlineLimitInBytes, type Asset } from './asset.ts';
import type { Table } from '../table/table.ts';
import { getContent, presignDownload, type ContentStore } from './content-store.ts';
import { readAsset } from './read-asset.ts';

/**
 * Reads an asset. The result contains its content up to the inline limit, otherwise a presigned download.
 * @throws ServiceError `not_found`, also if the asset is deleted while it is read
 */
export async function describeAsset(table: Table, store: ContentStore, domain: string, id: string, now: string): Promise<Asset> {
  const asset = await readAsset(table, domain, id);
  const { content_key, size, file_name } = asset;
  if (content_key === null) return asset;
  if (size > inlineLimitInBytes) return { ...asset, download: await presignDownload(store, content_key, file_name, now) };
  const response = await getContent(store, content_key);
  if (!response) {
    await readAsset(table, domain, id);
    throw new Error('The content of an asset is missing in storage.');
  }
  return { ...asset, asset: Buffer.from(await response.arrayBuffer()).toString('base64') };
}
