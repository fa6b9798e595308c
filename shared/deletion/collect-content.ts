import { findAsset, assetKey } from '../assets/read-asset.ts';
import { dropContentCheck, dueContentChecks } from '../assets/content-check.ts';
import { deleteContent, ownerOfContent, type ContentStore } from '../assets/content-store.ts';
import { receiveUpload } from '../assets/receive-upload.ts';
import { getItem, type Table } from '../table/table.ts';
import { transact } from '../table/transaction.ts';

/**
 * Deletes content that no row names: leftovers of a crash between storage and table, and what was replaced. Every name is noted
 * before it is written, so nothing has to be listed. An awaited upload whose arrival went unnoticed is taken in. Takes up to
 * 1,000 notes.
 * @param now notes due before it are looked at
 * @returns how many notes were settled
 * @throws AggregateError with what failed, when every note has been looked at
 */
export async function collectContent(table: Table, store: ContentStore, now: string): Promise<number> {
  const due = await dueContentChecks(table, now);
  const failures: unknown[] = [];
  for (const check of due) {
    try {
      await settle(table, store, check.content_key, now);
      await transact(table, [dropContentCheck(check)]);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${due.length} notes could not be settled.`);
  return due.length;
}

async function settle(table: Table, store: ContentStore, key: string, now: string): Promise<void> {
  const owner = ownerOfContent(key);
  const row = owner && findAsset(await getItem(table, assetKey(owner.domain, owner.assetId)), owner.assetId);
  if (row?.content_key === key) return;
  if (row?.upload_key === key) await receiveUpload(table, store, key, now);
  else await deleteContent(store, key);
}
