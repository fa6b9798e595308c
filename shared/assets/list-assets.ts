import type { AssetType } from 'computation-management-formats/vocabulary';
import { parseStored } from '../table/parse-stored.ts';
import { indexedLists } from '../lists/indexed-list.ts';
import { readPage } from '../lists/read-page.ts';
import type { Table } from '../table/table.ts';
import { storedAsset, type StoredAsset } from './asset.ts';

export async function listAssets(
  table: Table,
  domain: string,
  request: { limit: number; offset: number; asset_type?: AssetType | undefined },
): Promise<{ assets: StoredAsset[]; total: number }> {
  const { limit, offset, asset_type } = request;
  const { rows, total } = await readPage(table, indexedLists.assets(domain), { limit, offset, state: asset_type });
  return { assets: rows.map((row) => parseStored(storedAsset, row, 'asset')), total };
}
