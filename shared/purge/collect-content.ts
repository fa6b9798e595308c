import { findAsset, assetKey } from '../assets/read-asset.ts';
import { dropContentCheck, dueContentChecks } from '../assets/content-check.ts';
import { deleteContent, ownerOfContent, type ContentStore } from '../assets/content-store.ts';
import { receiveUpload } from '../assets/receive-upload.ts';
import { getItem, transact, type Table } from '../table/table.ts';

/**
 * Deletes content that no row names: leftovers of a crash between storage and table, and what was replaced. Every name is noted
 * before it is written, so nothing has to be listed. An awaited upload whose arrival went unnoticed is taken in.
 * @param now notes due before it are looked at
 * @returns how many notes were settled
 */
export async function collectContent(table: Table, store: ContentStore, now: string): Promise<number> {
  let settled = 0;
  for (;;) {
    const due = await dueContentChecks(table, now);
    if (due.length === 0) return settled;
    for (const check of due) {
      await settle(table, store, check.content_key, now);
      await transact(table, [dropContentCheck(check)]);
      settled += 1;
    }
  }
}

async function settle(table: Table, store: ContentStore, key: string, now: string): Promise<void> {
  const owner = ownerOfContent(key);
  const row = owner && findAsset(await getItem(table, assetKey(owner.domain, owner.assetId)), owner.assetId);
  if (row?.content_key === key) return;
  if (row?.upload_key === key) await receiveUpload(table, store, key, now);
  else await deleteContent(store, key);
}
