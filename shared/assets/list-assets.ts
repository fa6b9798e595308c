import type { AssetType } from 'computation-management-formats/vocabulary';
import { parseStored, type Table } from '../table/table.ts';
import { readPage } from '../table/read-page.ts';
import { rowLists } from '../table/row-lists.ts';
import { storedAsset, type StoredAsset } from '../rows/asset.ts';

export async function listAssets(
  table: Table,
  domain: string,
  request: { limit: number; offset: number; asset_type?: AssetType | undefined },
): Promise<{ assets: StoredAsset[]; total: number }> {
  const { limit, offset, asset_type } = request;
  const { rows, total } = await readPage(table, rowLists.assets(domain), { limit, offset, state: asset_type });
  return { assets: rows.map((row) => parseStored(storedAsset, row, 'asset')), total };
}
