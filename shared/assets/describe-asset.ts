import { inlineLimitInBytes, type Asset } from './asset.ts';
import type { Table } from '../table/table.ts';
import { getContent, presignDownload, type ContentStore } from './content-store.ts';
import { readAsset } from './read-asset.ts';

/**
 * An asset with its content up to the inline limit, else with a presigned download.
 * @throws ServiceError `not_found`, also where it is deleted while it is read
 */
export async function describeAsset(table: Table, store: ContentStore, domain: string, id: string, now: string): Promise<Asset> {
  const asset = await readAsset(table, domain, id);
  const { content_key, size, file_name } = asset;
  if (content_key === null) return asset;
  if (size > inlineLimitInBytes) return { ...asset, download: await presignDownload(store, content_key, file_name, now) };
  const response = await getContent(store, content_key);
  if (!response) {
    await readAsset(table, domain, id);
    throw new Error('The content that an asset names is not there.');
  }
  return { ...asset, asset: Buffer.from(await response.arrayBuffer()).toString('base64') };
}
