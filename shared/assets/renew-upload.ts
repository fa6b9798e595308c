import type { Table } from '../table/table.ts';
import { putItem } from '../table/writes.ts';
import type { StoredAsset } from './asset.ts';
import type { Asset } from './asset-schema.ts';
import { contentCheckItem, isDueWithin } from './content-check.ts';
import { linkLifetimeInSeconds, presignUpload, type ContentStore } from './content-store.ts';

/** Returns what `renewUpload` needs to presign the upload of an answer again. Empty if the answer has no `upload`. */
export function rememberUpload(
  { upload, upload_key }: Asset & Pick<StoredAsset, 'upload_key'>,
  given_at: string,
): Record<string, string> {
  return upload && upload_key !== null ? { upload_key, given_at } : {};
}

/**
 * Presigns the `upload` of a kept answer again. Adds another content check if the first is due while the new link is valid,
 * because it would miss content that arrives later.
 * @param remembered from `rememberUpload`
 */
export async function renewUpload(
  table: Table,
  store: ContentStore,
  asset: Asset,
  { upload_key, given_at }: Record<string, string>,
  now: string,
): Promise<Asset> {
  if (upload_key === undefined || given_at === undefined) return asset;
  if (isDueWithin(linkLifetimeInSeconds, given_at, now)) await putItem(table, contentCheckItem(upload_key, now));
  return { ...asset, upload: await presignUpload(store, upload_key, now) };
}
