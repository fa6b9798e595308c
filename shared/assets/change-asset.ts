import { keyToWrite, lists } from '../table/keys.ts';
import { addToList, moveInList, removeFromList } from '../table/listing.ts';
import { schemaVersion } from '../table/schema-version.ts';
import { StaleReadError, type Transaction } from '../table/transaction.ts';
import type { StoredAsset } from './asset.ts';
import { assetKey, assetNumber } from './read-asset.ts';

/** Adds a new asset: row and list. */
export function addAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Item = { ...keyToWrite(assetKey(domain, asset.id)), ...schemaVersion('asset'), ...asset };
  transaction.add(
    { put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
    ...addToList(lists.assets(domain), assetNumber(asset.id), asset.asset_type),
  );
}

/**
 * Changes an asset: row and list. Its version changes even if nothing else does, so that every other change that read it fails
 * with StaleReadError and reads it again; as does this one if the asset has changed since.
 * @returns the asset as it will be
 */
export function changeAsset(
  transaction: Transaction,
  domain: string,
  asset: StoredAsset,
  change: Partial<Omit<StoredAsset, 'id' | 'version'>>,
): StoredAsset {
  const next = { ...asset, ...change, version: asset.version + 1 };
  const Item = { ...keyToWrite(assetKey(domain, asset.id)), ...schemaVersion('asset'), ...next };
  transaction.add(
    { put: { Item, ...asRead(asset) }, otherwise: new StaleReadError() },
    ...moveInList(lists.assets(domain), assetNumber(asset.id), asset.asset_type, next.asset_type),
  );
  return next;
}

/** Removes an asset: row and list. Fails with StaleReadError if it has changed since it was read. */
export function removeAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  transaction.add(
    { delete: { Key: keyToWrite(assetKey(domain, asset.id)), ...asRead(asset) }, otherwise: new StaleReadError() },
    ...removeFromList(lists.assets(domain), assetNumber(asset.id), asset.asset_type),
  );
}

function asRead({ id, version }: StoredAsset) {
  return {
    ConditionExpression: 'id = :id AND version = :version',
    ExpressionAttributeValues: { ':id': id, ':version': version },
  };
}
