import type { AssetType } from 'computation-management-formats/vocabulary';
import { notFound } from '../runtime/errors.ts';
import { keyToWrite, userKeys } from '../table/keys.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { setAttributes } from '../table/writes.ts';
import { type Action, type Transaction, StaleReadError } from '../table/transaction.ts';
import type { StoredAsset } from './asset.ts';
import { assetKey, assetNumber } from './read-asset.ts';
import { schemaAttribute } from '../table/stored.ts';

/** With its list entry, and an open task of its creator if its content has to arrive. */
export function addAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Item = { ...keyToWrite(assetKey(domain, asset.id)), ...schemaAttribute, ...asset };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } });
  recordInList(transaction, domain, asset, { now: asset.asset_type });
  if (asset.state === 'pending') transaction.add({ put: { Item: { ...pendingKey(domain, asset) } } });
}

/**
 * With its list entry, and always its version: changes that have read the asset before fail with StaleReadError, as this one does
 * if the asset has changed since.
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
  transaction.add({ update, otherwise: new StaleReadError() });
  if (asset.asset_type !== next.asset_type) {
    recordInList(transaction, domain, next, { before: asset.asset_type, now: next.asset_type });
  }
  if (asset.state === 'ready' && next.state === 'pending') transaction.add({ put: { Item: { ...pendingKey(domain, next) } } });
  if (asset.state === 'pending' && next.state === 'ready') transaction.add({ delete: { Key: pendingKey(domain, asset) } });
  return next;
}

/** With its list entry. Fails with StaleReadError if the asset has changed since it was read. */
export function removeAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Key = keyToWrite(assetKey(domain, asset.id));
  transaction.add({ delete: { Key, ...unchanged(asset) }, otherwise: new StaleReadError() });
  recordInList(transaction, domain, { ...asset, version: asset.version + 1 }, { before: asset.asset_type });
  if (asset.state === 'pending') transaction.add({ delete: { Key: pendingKey(domain, asset) } });
}

function pendingKey(domain: string, { id, created_by }: StoredAsset) {
  return userKeys.pending(domain, created_by, assetNumber(id));
}

/** Fails with ServiceError `not_found`. */
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
