import { notFound } from '../errors.ts';
import { keyToWrite, lists } from '../table/keys.ts';
import { addToList, moveInList, removeFromList } from '../table/listing.ts';
import { schemaVersion } from '../table/schema-version.ts';
import { setAttributes } from '../table/set-attributes.ts';
import { StaleReadError, type Action, type Transaction } from '../table/transaction.ts';
import type { StoredAsset } from './asset.ts';
import { assetKey, assetNumber } from './read-asset.ts';

/** Adds a new asset: its row and list entry. */
export function addAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Item = { ...keyToWrite(assetKey(domain, asset.id)), ...schemaVersion('asset'), ...asset };
  transaction.add(
    { put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
    ...addToList(lists.assets(domain), assetNumber(asset.id), asset.asset_type),
  );
}

/**
 * Changes an asset: its row and list entry. Increments its version even if nothing else changes, so that other changes which
 * read the asset before fail with StaleReadError. This change fails the same way if the asset has changed since it was read.
 * @returns the asset after the change
 */
export function changeAsset(
  transaction: Transaction,
  domain: string,
  asset: StoredAsset,
  change: Partial<Omit<StoredAsset, 'id' | 'version'>>,
): StoredAsset {
  const changes = { ...change, version: asset.version + 1 };
  const next = { ...asset, ...changes };
  const set = setAttributes(changes);
  const guard = unchanged(asset);
  const update = {
    ...set,
    ...guard,
    ExpressionAttributeValues: { ...set.ExpressionAttributeValues, ...guard.ExpressionAttributeValues },
    Key: keyToWrite(assetKey(domain, asset.id)),
  };
  transaction.add(
    { update, otherwise: new StaleReadError() },
    ...moveInList(lists.assets(domain), assetNumber(asset.id), asset.asset_type, next.asset_type),
  );
  return next;
}

/** Removes an asset: its row and list entry. Fails with StaleReadError if the asset has changed since it was read. */
export function removeAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  transaction.add(
    { delete: { Key: keyToWrite(assetKey(domain, asset.id)), ...unchanged(asset) }, otherwise: new StaleReadError() },
    ...removeFromList(lists.assets(domain), assetNumber(asset.id), asset.asset_type),
  );
}

/** Checks that an asset still exists, whatever has changed of it. Fails with ServiceError `not_found`. */
export function assetExists(domain: string, id: string): Action {
  const check = {
    Key: keyToWrite(assetKey(domain, id)),
    ConditionExpression: 'id = :id',
    ExpressionAttributeValues: { ':id': id },
  };
  return { check, otherwise: notFound('asset') };
}

/** The condition that the asset has not changed since it was read. */
function unchanged({ id, version }: StoredAsset) {
  return {
    ConditionExpression: 'id = :id AND version = :version',
    ExpressionAttributeValues: { ':id': id, ':version': version },
  };
}
