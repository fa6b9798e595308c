import { inlineLimitInBytes, type Asset, type StoredAsset } from './asset.ts';
import { getContent, presignDownload, type ContentStore } from './content-store.ts';

/** An asset with its content up to the inline limit, else with a presigned download. */
export async function describeAsset(store: ContentStore, asset: StoredAsset, now: string): Promise<Asset> {
  const { content_key, size, file_name } = asset;
  if (content_key === null) return asset;
  if (size > inlineLimitInBytes) return { ...asset, download: await presignDownload(store, content_key, file_name, now) };
  const response = await getContent(store, content_key);
  if (!response) throw new Error('The content that an asset names is not there.');
  return { ...asset, asset: Buffer.from(await response.arrayBuffer()).toString('base64') };
}
