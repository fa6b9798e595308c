import { numberOf } from 'computation-management-formats/identifiers';
import { notFound } from '../runtime/errors.ts';
import { type Table, getItem, type Item } from '../table/table.ts';
import { listKeys, lists, type RowKey } from '../table/keys.ts';
import { storedAsset, type StoredAsset } from './asset.ts';
import { parseStored } from '../table/stored.ts';
import { readSettled } from '../table/transaction.ts';

/**
 * Returns the number of an asset in its list, which is a part of the identifier.
 * @throws ServiceError `not_found` if this service cannot have issued the identifier
 */
export function assetNumber(id: string): number {
  const number = numberOf(id);
  if (number === undefined) throw notFound('asset');
  return number;
}

/**
 * Returns the key of an asset's row.
 * @throws ServiceError `not_found` if this service cannot have issued the identifier
 */
export function assetKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.assets(domain), assetNumber(id));
}

/** Parses the row of the asset with this identifier. Returns undefined if the row is missing or belongs to another asset. */
export function findAsset(item: Item | undefined, id: string): StoredAsset | undefined {
  return item?.['id'] === id ? parseStored(storedAsset, item, 'asset') : undefined;
}

/**
 * Parses the row of the asset with this identifier.
 * @throws ServiceError `not_found` if the row is missing or belongs to another asset
 */
export function parseAsset(item: Item | undefined, id: string): StoredAsset {
  const asset = findAsset(item, id);
  if (!asset) throw notFound('asset');
  return asset;
}

/**
 * Reads an asset to change it. No item that is read afterwards is older than its row.
 * @throws ServiceError `not_found` if there is no such asset
 */
export async function readAssetToChange(table: Table, domain: string, id: string): Promise<StoredAsset> {
  const [item] = await readSettled(table, [assetKey(domain, id)]);
  return parseAsset(item, id);
}

/**
 * Reads the row of an asset, strongly consistent.
 * @throws ServiceError `not_found` if there is no such asset
 */
export async function readAsset(table: Table, domain: string, id: string): Promise<StoredAsset> {
  return parseAsset(await getItem(table, assetKey(domain, id)), id);
}
