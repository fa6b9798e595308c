import { findAsset, assetKey } from '../assets/read-asset.ts';
import { dropContentCheck, dueContentChecks } from '../assets/content-check.ts';
import { deleteContent, ownerOfContent, type ContentStore } from '../assets/content-store.ts';
import { receiveUpload } from '../assets/receive-upload.ts';
import { emitMetric } from '../metrics.ts';
import { getItem, type Table } from '../table/table.ts';
import { transact } from '../table/transaction.ts';

/**
 * Deletes content that no row names: replaced content, and leftovers of a crash between storage and table. Every key has a
 * content check before it is written, so storage is never listed. An expected upload whose event was lost is processed too.
 * Processes up to 1,000 checks.
 * @param now checks due before this time are processed
 * @returns the number of checks processed
 * @throws AggregateError with all failures, after every check was processed
 */
export async function collectContent(table: Table, store: ContentStore, now: string): Promise<number> {
  const due = await dueContentChecks(table, now);
  if (due.length > 0) emitMetric('Waiting', due.length, { task: 'maintenance/collect-content' });
  const failures: unknown[] = [];
  for (const check of due) {
    try {
      await collectOrReceive(table, store, check.content_key, now);
      await transact(table, [dropContentCheck(check)]);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${due.length} content checks failed.`);
  return due.length;
}

async function collectOrReceive(table: Table, store: ContentStore, key: string, now: string): Promise<void> {
  const owner = ownerOfContent(key);
  const row = owner && findAsset(await getItem(table, assetKey(owner.domain, owner.assetId)), owner.assetId);
  if (row?.content_key === key) return;
  if (row?.upload_key === key) await receiveUpload(table, store, key, now);
  else await deleteContent(store, key);
}
