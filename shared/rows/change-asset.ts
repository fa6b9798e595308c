import { type AssetType, resultType } from 'computation-management-formats/vocabulary';
import { notFound } from '../runtime/errors.ts';
import { assetKeys, keyToWrite, purgeKeys } from '../table/keys.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { hasAttributes, isAbsent, setAttributesIf } from '../table/writes.ts';
import { type Action, type Transaction, StaleReadError } from '../table/transaction.ts';
import type { StoredAsset } from './asset.ts';
import { assetKey, assetNumber } from './read-asset.ts';
import { schemaAttribute } from '../table/stored.ts';

/** Adds a new asset to the transaction, with its entry in the list of assets. */
export function addAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Item = { ...keyToWrite(assetKey(domain, asset.id)), ...schemaAttribute, ...asset };
  transaction.add({ put: { Item, ...isAbsent } });
  recordInList(transaction, domain, asset, { now: asset });
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
  transaction.add({ update, otherwise: StaleReadError });
  if (asset.asset_type !== next.asset_type) {
    recordInList(transaction, domain, next, { before: asset, now: next });
  }
  return next;
}

/**
 * Adds the deletion of an asset to the transaction, with its list entry. The transaction fails with StaleReadError if the asset
 * has changed since it was read.
 */
export function removeAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Key = keyToWrite(assetKey(domain, asset.id));
  transaction.add({ delete: { Key, ...unchanged(asset) }, otherwise: StaleReadError });
  recordInList(transaction, domain, { ...asset, version: asset.version + 1 }, { before: asset });
}

/**
 * Adds the deletion of an asset to the transaction, as `removeAsset` does, with that of its key and the record of what its purge
 * does afterwards.
 * @param by the user who deletes it
 * @returns the record
 */
export function deleteAssetIn(transaction: Transaction, domain: string, asset: StoredAsset, by: string) {
  const { id, file_name, asset_type, content_key, upload_key, unread_key = null } = asset;
  const purge = { domain, id, file_name, asset_type, content_key, upload_key, unread_key, by };
  removeAsset(transaction, domain, asset);
  if (asset.key ?? asset.former_key) transaction.add({ delete: { Key: assetKeys.key(id) } });
  transaction.add({ put: { Item: { ...purgeKeys.purge('asset', id), ...purge } } });
  return purge;
}

/** Returns a check for a transaction, which then fails with ServiceError `not_found` if the asset does not exist. */
export function assertAssetExists(domain: string, id: string): Action {
  return { check: { Key: keyToWrite(assetKey(domain, id)), ...hasAttributes({ id }) }, otherwise: notFound('asset') };
}

function recordInList(
  transaction: Transaction,
  domain: string,
  { id, version }: StoredAsset,
  { before, now }: { before?: StoredAsset; now?: StoredAsset },
): void {
  const member = { number: assetNumber(id), version };
  if ((before ?? now)?.asset_type === resultType) {
    recordMember(transaction, rowLists.results(domain), { ...member, before: before && 'all', now: now && 'all' });
  } else {
    const typeOf = (asset: StoredAsset | undefined) => asset?.asset_type as AssetType | undefined;
    recordMember(transaction, rowLists.assets(domain), { ...member, before: typeOf(before), now: typeOf(now) });
  }
}

function unchanged({ id, version }: StoredAsset) {
  return hasAttributes({ id, version });
}
