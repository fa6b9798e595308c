import type { AssetType } from 'computation-management-formats/vocabulary';
import { notFound } from '../runtime/errors.ts';
import { keyToWrite, userKeys } from '../table/keys.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { setAttributesIf } from '../table/writes.ts';
import { type Action, type Transaction, StaleReadError } from '../table/transaction.ts';
import type { StoredAsset } from './asset.ts';
import { assetKey, assetNumber } from './read-asset.ts';
import { schemaAttribute } from '../table/stored.ts';

/**
 * Adds a new asset to the transaction, with its entry in the list of assets. If its content has yet to arrive, adds an open task
 * for its creator too.
 */
export function addAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Item = { ...keyToWrite(assetKey(domain, asset.id)), ...schemaAttribute, ...asset };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } });
  recordInList(transaction, domain, asset, { now: asset.asset_type });
  if (asset.state === 'pending') transaction.add({ put: { Item: { ...pendingKey(domain, asset) } } });
}

/**
 * Adds the change of an asset to the transaction, with its list entry. Increments the version of the asset. The transaction fails
 * with StaleReadError if the asset has changed since it was read.
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
  const update = { ...setAttributesIf(unchanged(asset), changes), Key: keyToWrite(assetKey(domain, asset.id)) };
  transaction.add({ update, otherwise: new StaleReadError() });
  if (asset.asset_type !== next.asset_type) {
    recordInList(transaction, domain, next, { before: asset.asset_type, now: next.asset_type });
  }
  if (asset.state === 'ready' && next.state === 'pending') transaction.add({ put: { Item: { ...pendingKey(domain, next) } } });
  if (asset.state === 'pending' && next.state === 'ready') transaction.add({ delete: { Key: pendingKey(domain, asset) } });
  return next;
}

/**
 * Adds the deletion of an asset to the transaction, with its list entry. The transaction fails with StaleReadError if the asset
 * has changed since it was read.
 */
export function removeAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Key = keyToWrite(assetKey(domain, asset.id));
  transaction.add({ delete: { Key, ...unchanged(asset) }, otherwise: new StaleReadError() });
  recordInList(transaction, domain, { ...asset, version: asset.version + 1 }, { before: asset.asset_type });
  if (asset.state === 'pending') transaction.add({ delete: { Key: pendingKey(domain, asset) } });
}

function pendingKey(domain: string, { id, created_by }: StoredAsset) {
  return userKeys.pending(domain, created_by, assetNumber(id));
}

/** Returns a check for a transaction, which then fails with ServiceError `not_found` if the asset does not exist. */
export function assertAssetExists(domain: string, id: string): Action {
  const check = {
    Key: keyToWrite(assetKey(domain, id)),
    ConditionExpression: 'id = :id',
    ExpressionAttributeValues: { ':id': id },
  };
  return { check, otherwise: notFound('asset') };
}

function recordInList(
  transaction: Transaction,
  domain: string,
  { id, version }: StoredAsset,
  change: { before?: AssetType; now?: AssetType },
): void {
  recordMember(transaction, rowLists.assets(domain), { number: assetNumber(id), version, ...change });
}

function unchanged({ id, version }: StoredAsset) {
  return {
    ConditionExpression: 'id = :id AND version = :version',
    ExpressionAttributeValues: { ':id': id, ':version': version },
  };
}
