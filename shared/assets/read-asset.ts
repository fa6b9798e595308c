import { notFound } from '../errors.ts';
import { parseStored } from '../table/parse-stored.ts';
import { numberOf } from '../identifiers.ts';
import { listKeys, lists, type RowKey } from '../table/keys.ts';
import { readSettled } from '../table/read-settled.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { storedAsset, type StoredAsset } from './asset.ts';

export function assetNumber(id: string): number {
  const number = numberOf(id);
  if (number === undefined) throw notFound('asset');
  return number;
}

/** Where an asset's row is. @throws ServiceError `not_found` for an identifier that this service cannot have issued */
export function assetKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.assets(domain), assetNumber(id));
}

/** The row read from `assetKey`, undefined where there is none with this identifier. */
export function findAsset(item: Item | undefined, id: string): StoredAsset | undefined {
  return item?.['id'] === id ? parseStored(storedAsset, item, 'asset') : undefined;
}

/** @throws ServiceError `not_found` */
export function parseAsset(item: Item | undefined, id: string): StoredAsset {
  const asset = findAsset(item, id);
  if (!asset) throw notFound('asset');
  return asset;
}

/**
 * Reads an asset by readSettled: items that are read afterwards are not older than its row. One round trip.
 * @throws ServiceError `not_found`
 */
export async function readAssetToChange(table: Table, domain: string, id: string): Promise<StoredAsset> {
  const [item] = await readSettled(table, [assetKey(domain, id)]);
  return parseAsset(item, id);
}

/** One round trip. @throws ServiceError `not_found` */
export async function readAsset(table: Table, domain: string, id: string): Promise<StoredAsset> {
  return parseAsset(await getItem(table, assetKey(domain, id)), id);
}
