import { numberOf } from 'computation-management-formats/identifiers';
import { notFound } from '../runtime/errors.ts';
import { type Table, getItem, type Item } from '../table/table.ts';
import { listKeys, lists, type RowKey } from '../table/keys.ts';
import { storedAsset, type StoredAsset } from './asset.ts';
import { parseStored } from '../table/stored.ts';
import { readSettled } from '../table/transaction.ts';

/** @throws ServiceError `not_found` if this service cannot have issued the identifier */
export function assetNumber(id: string): number {
  const number = numberOf(id);
  if (number === undefined) throw notFound('asset');
  return number;
}

/** @throws ServiceError `not_found` as assetNumber */
export function assetKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.assets(domain), assetNumber(id));
}

/** If the row is that asset's. */
export function findAsset(item: Item | undefined, id: string): StoredAsset | undefined {
  return item?.['id'] === id ? parseStored(storedAsset, item, 'asset') : undefined;
}

/** @throws ServiceError `not_found` */
export function parseAsset(item: Item | undefined, id: string): StoredAsset {
  const asset = findAsset(item, id);
  if (!asset) throw notFound('asset');
  return asset;
}

/** No item read afterwards is older than its row. @throws ServiceError `not_found` */
export async function readAssetToChange(table: Table, domain: string, id: string): Promise<StoredAsset> {
  const [item] = await readSettled(table, [assetKey(domain, id)]);
  return parseAsset(item, id);
}

/** @throws ServiceError `not_found` */
export async function readAsset(table: Table, domain: string, id: string): Promise<StoredAsset> {
  return parseAsset(await getItem(table, assetKey(domain, id)), id);
}
