import { parseStored } from '../table/parse-stored.ts';
import { lists } from '../table/keys.ts';
import { readPage } from '../table/listing.ts';
import type { Table } from '../table/table.ts';
import { storedAsset, type AssetType, type StoredAsset } from './asset.ts';

/** Reads a page of the domain's assets, newest first, and the exact total. See readPage for its cost. */
export async function listAssets(
  table: Table,
  domain: string,
  request: { limit: number; offset: number; asset_type?: AssetType | undefined },
): Promise<{ assets: StoredAsset[]; total: number }> {
  const { limit, offset, asset_type } = request;
  const { rows, total } = await readPage(table, lists.assets(domain), { limit, offset, facet: asset_type });
  return { assets: rows.map((row) => parseStored(storedAsset, row, 'asset')), total };
}
