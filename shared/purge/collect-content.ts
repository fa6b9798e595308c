import { findAsset, assetKey } from '../assets/read-asset.ts';
import { deleteContent, listContent, type ContentObject } from '../assets/content-listing.ts';
import { ownerOfContent, type ContentStore } from '../assets/content-store.ts';
import { receiveUpload } from '../assets/receive-upload.ts';
import { numberOf } from '../identifiers.ts';
import { getItems, type Table } from '../table/table.ts';

/**
 * Deletes content that no row names: leftovers of a crash between storage and table, of replaced content, of uploads that came
 * too late. Content younger than `graceInSeconds` may still be on its way into a row and stays. An awaited upload whose arrival
 * went unnoticed is taken in.
 * @returns how many objects were deleted
 */
export async function collectContent(table: Table, store: ContentStore, now: string, graceInSeconds: number): Promise<number> {
  const before = Date.parse(now) - graceInSeconds * 1000;
  let deleted = 0;
  for await (const objects of listContent(store, 'content/')) {
    const settled = objects.filter((object) => object.writtenAt.getTime() < before);
    const unnamed = await withoutRow(table, store, settled, now);
    await deleteContent(store, unnamed);
    deleted += unnamed.length;
  }
  return deleted;
}

async function withoutRow(table: Table, store: ContentStore, objects: ContentObject[], now: string): Promise<string[]> {
  const owned = objects.map(({ key }) => ({ key, owner: ownerOfContent(key) }));
  const rowKeys = new Map(
    owned.flatMap(({ owner }) =>
      owner && numberOf(owner.assetId) !== undefined ? [[owner.assetId, assetKey(owner.domain, owner.assetId)] as const] : [],
    ),
  );
  const items = await getItems(table, [...rowKeys.values()]);
  const rows = new Map([...rowKeys.keys()].map((id, index) => [id, findAsset(items[index], id)]));
  const unnamed: string[] = [];
  for (const { key, owner } of owned) {
    const row = owner && rows.get(owner.assetId);
    if (row?.upload_key === key) await receiveUpload(table, store, key, now);
    else if (row?.content_key !== key) unnamed.push(key);
  }
  return unnamed;
}
