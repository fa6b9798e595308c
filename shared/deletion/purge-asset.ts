import { assetTypes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { deleteContent, type ContentStore } from '../assets/content-store.ts';
import { unlinkDeletedAsset } from '../links/link-asset.ts';
import { indexedLists } from '../lists/indexed-list.ts';
import { indexKeys } from '../table/index-keys.ts';
import { assetKeys, dueFoldKeys, listKeys, lists } from '../table/keys.ts';
import { clockOf, getItem, queryPrefix, type Item, type Table } from '../table/table.ts';
import { partitionInParts } from './delete-partition.ts';
import { inParallel } from '../runtime/in-parallel.ts';
import { doAllParts, inChunks, type InParts } from './parts.ts';

/** A recorded purge. It contains what the purge needs of the asset's deleted row. */
export const assetPurge = v.object({
  domain: v.string(),
  id: v.string(),
  file_name: v.string(),
  asset_type: v.picklist(assetTypes),
  content_key: v.nullable(v.string()),
  upload_key: v.nullable(v.string()),
  by: v.string(),
});
export type AssetPurge = v.InferOutput<typeof assetPurge>;

/** The links that are removed at a time, before other purges have their turn. */
const linksPerPart = 80;

/** Removes the links of a deleted asset and records an event for each. Readers could still see these links. */
export async function purgeAssetLinks(table: Table, purge: AssetPurge): Promise<void> {
  await doAllParts(linksInParts(table, purge));
}

async function* linksInParts(table: Table, purge: AssetPurge): InParts {
  const list = lists.linkedComputations(purge.id);
  const links = await queryPrefix(table, list.pk, listKeys.prefixes.row);
  const unlink = (link: Item) =>
    unlinkDeletedAsset(table, {
      domain: purge.domain,
      asset: purge,
      computationId: String(link['id']),
      by: purge.by,
      now: new Date(clockOf(table).now()).toISOString(),
    });
  yield* inChunks(links, linksPerPart, (some) => inParallel(some, unlink));
}

/**
 * Removes everything that is left of a deleted asset, including its content. Safe to repeat and to interrupt.
 * @returns whether nothing comes after it. As long as the list of its links is marked, a fold that began before may write nodes and
 * a head. The scheduled fold removes the mark.
 */
export async function* assetInParts(table: Table, store: ContentStore, purge: AssetPurge): InParts<boolean> {
  yield* linksInParts(table, purge);
  yield* partitionInParts(table, lists.linkedComputations(purge.id).pk);
  const { index } = indexedLists.linkedComputations(purge.id);
  for (const pk of indexKeys.partitions(index)) yield* partitionInParts(table, pk);
  yield* partitionInParts(table, assetKeys.uses(purge.id));
  yield* partitionInParts(table, assetKeys.contentReads(purge.id).pk);
  if (purge.content_key) await deleteContent(store, purge.content_key);
  if (purge.upload_key) await deleteContent(store, purge.upload_key);
  // After the log is deleted: a fold that begins later finds nothing to do.
  return (await getItem(table, dueFoldKeys.mark(index))) === undefined;
}
