import { type Table, getItemsOf } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import type { StoredAsset } from '../rows/asset.ts';
import { changeAsset } from '../rows/change-asset.ts';
import { assetKey, findAsset, readAssetToChange } from '../rows/read-asset.ts';

/** The lifetime in seconds of the mark on an asset that says that it is being deleted. It is longer than a deletion takes. */
const secondsToDelete = 30;

/** Tells whether an asset is being deleted, by the mark that a deletion sets. No run starts with the asset meanwhile. */
export function isMarkedForDeletion({ closing_until }: StoredAsset, now: string): boolean {
  return closing_until !== null && closing_until > now;
}

/**
 * Marks an asset as being deleted. A run removes the mark before it is offered to its CVM. So the deletion finds the run, or the
 * run finds the asset deleted, or the deletion fails and looks again (docs/adr/0003-lifecycle.md).
 * @returns the asset with the mark
 */
export async function markForDeletion(table: Table, domain: string, asset: StoredAsset, now: string): Promise<StoredAsset> {
  const closing_until = new Date(Date.parse(now) + secondsToDelete * 1000).toISOString();
  return await setMark(table, domain, asset, closing_until);
}

/** Removes the mark that a failed deletion of an asset has set on it, unless another deletion has set a new mark. */
export async function removeDeletionMark(table: Table, domain: string, { id, closing_until }: StoredAsset): Promise<void> {
  await withFreshReads(table, async (table) => {
    const asset = await readAssetToChange(table, domain, id);
    if (asset.closing_until === closing_until) await setMark(table, domain, asset, null);
  });
}

/**
 * Removes the deletion marks of the assets of an active run, so that they are not deleted until the run ends. One round trip, and
 * one for each mark.
 * @returns the identifiers of the assets that are deleted already
 * @throws StaleReadError
 */
export async function cancelDeletions(table: Table, domain: string, ids: readonly string[]): Promise<string[]> {
  const items = await getItemsOf(table, ids, (id) => assetKey(domain, id));
  const deleted: string[] = [];
  for (const [index, id] of ids.entries()) {
    const asset = findAsset(items[index], id);
    if (!asset) deleted.push(id);
    else if (asset.closing_until !== null) await setMark(table, domain, asset, null);
  }
  return deleted;
}

async function setMark(table: Table, domain: string, asset: StoredAsset, closing_until: string | null): Promise<StoredAsset> {
  const transaction = new Transaction();
  const changed = changeAsset(transaction, domain, asset, { closing_until });
  await transaction.commit(table);
  return changed;
}
