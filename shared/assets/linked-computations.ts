import { assetKey, parseAsset } from '../rows/asset.ts';
import { type StoredComputation, type ComputationRow, computationKey, findComputation } from '../rows/computation.ts';
import { readPage } from '../table/read-page.ts';
import { rowLists } from '../table/row-lists.ts';
import { type Table, getItem, getItemsOf } from '../table/table.ts';
import { readLinkedIds } from '../rows/link.ts';

/** Reads all computations that an asset is linked to. Two round trips. */
export async function readLinkedComputations(table: Table, domain: string, assetId: string): Promise<StoredComputation[]> {
  return await readRows(table, domain, await readLinkedIds(table, assetId));
}

/** Reads computations by their identifiers. Leaves out those that have been deleted. One round trip. */
export async function readRows(table: Table, domain: string, ids: string[]): Promise<StoredComputation[]> {
  const items = await getItemsOf(table, ids, (id) => computationKey(domain, id));
  return ids.flatMap((id, index) => findComputation(items[index], id) ?? []);
}

/**
 * Lists the computations that an asset is linked to, newest first, with the exact total. Takes one more round trip than readPage.
 * @throws ServiceError `not_found`
 */
export async function listLinkedComputations(
  table: Table,
  domain: string,
  assetId: string,
  request: { limit: number; offset: number },
): Promise<{ computations: ComputationRow[]; total: number }> {
  const [assetItem, page] = await Promise.all([
    getItem(table, assetKey(domain, assetId)),
    readPage(table, rowLists.linkedComputations(assetId), request),
  ]);
  parseAsset(assetItem, assetId);
  const ids = page.rows.map((row) => String(row['id']));
  return { computations: await readRows(table, domain, ids), total: page.total };
}
