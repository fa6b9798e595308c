import { assetKey, parseAsset } from '../assets/read-asset.ts';
import { computationKey, findComputation } from '../computations/find-computation.ts';
import type { ComputationRow } from '../computations/list-computations.ts';
import { indexedLists } from '../lists/indexed-list.ts';
import { readPage } from '../lists/read-page.ts';
import { getItem, getItems, type Table } from '../table/table.ts';

/**
 * Reads a page of the computations that an asset is linked to, newest first, and the exact total. Takes one more round trip
 * than readPage, for the computations' rows.
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
    readPage(table, indexedLists.linkedComputations(assetId), request),
  ]);
  parseAsset(assetItem, assetId);
  const ids = page.rows.map((row) => String(row['id']));
  const items = await getItems(
    table,
    ids.map((id) => computationKey(domain, id)),
  );
  const computations = ids.flatMap((id, index) => findComputation(items[index], id) ?? []);
  return { computations, total: page.total };
}
