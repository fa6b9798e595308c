import * as v from 'valibot';
import { assetTypes } from '../assets/asset.ts';
import { deleteContent, type ContentStore } from '../assets/content-store.ts';
import { unlinkDeletedAsset } from '../links/unlink-asset.ts';
import { assetKeys, listKeys, lists, purgeKeys } from '../table/keys.ts';
import { queryPrefix, type Table } from '../table/table.ts';
import { transact } from '../table/transaction.ts';
import { deletePartition } from './delete-partition.ts';

/** What the purge of an asset has to know, since the row has gone. */
export const assetPurge = v.object({
  domain: v.string(),
  id: v.string(),
  file_name: v.string(),
  asset_type: v.picklist(assetTypes),
  content_key: v.nullable(v.string()),
  upload_key: v.nullable(v.string()),
  by: v.string(),
  at: v.string(),
});
export type AssetPurge = v.InferOutput<typeof assetPurge>;

/** Removes the links of a deleted asset, each with its event: what readers could still see. */
export async function purgeAssetLinks(table: Table, purge: AssetPurge): Promise<void> {
  const list = lists.linkedComputations(purge.id);
  for (const link of await queryPrefix(table, list.pk, listKeys.prefixes.row)) {
    await unlinkDeletedAsset(table, purge.domain, purge, String(link['id']), purge.by, purge.at);
  }
}

/** Removes everything that a deleted asset left behind, its content too. Safe to repeat and to interrupt. */
export async function purgeAsset(table: Table, store: ContentStore, purge: AssetPurge): Promise<void> {
  await purgeAssetLinks(table, purge);
  await deletePartition(table, lists.linkedComputations(purge.id).pk);
  await deletePartition(table, assetKeys.uses(purge.id));
  if (purge.content_key) await deleteContent(store, purge.content_key);
  if (purge.upload_key) await deleteContent(store, purge.upload_key);
  await transact(table, [{ delete: { Key: purgeKeys.purge('asset', purge.id) } }]);
}
