import { type Key, computationKeys, assetKeys, runKeys, listKeys, lists } from '../table/keys.ts';
import { type StoredAsset, assetKey, findAsset } from './asset.ts';
import { type Table, getItems, getItem, queryPrefix } from '../table/table.ts';
import { keysToChange, parseToChange, type ComputationToChange, changeInputsWithEvent } from './change-computation.ts';
import { type Action, type Transaction, StaleReadError, writeFresh } from '../table/transaction.ts';
import { administrativeEvent } from '../journal/journal.ts';
import { isActive } from './run.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { findComputation, computationNumber } from './computation.ts';
import { hasAttributes } from '../table/writes.ts';
/**
 * Returns the key of the link of an asset to a computation. A computation has one link to an algorithm, and one to a dataset for
 * each file name.
 */
export function linkKey(computationId: string, asset: Pick<StoredAsset, 'asset_type' | 'file_name'>): Key {
  return asset.asset_type === 'algorithm'
    ? computationKeys.algorithm(computationId)
    : computationKeys.dataset(computationId, asset.file_name);
}

type LinkedAsset = Pick<StoredAsset, 'id' | 'asset_type' | 'file_name'>;

interface DeletedAssetRequest {
  domain: string;
  asset: LinkedAsset;
  computationId: string;
  by: string;
  now: string;
}

/** Unlinks an asset whose row has been deleted from a computation. Does nothing if there is no such link or computation. */
export async function unlinkDeletedAsset(table: Table, request: DeletedAssetRequest): Promise<void> {
  const { domain, asset, computationId } = request;
  await writeFresh(table, async (table, transaction) => {
    const keys = [assetKey(domain, asset.id), ...keysToChange(domain, computationId)];
    const [assetItem, ...computationItems] = await getItems(table, keys);
    if (findAsset(assetItem, asset.id))
      throw new StaleReadError('The transaction that deletes the asset is only partly visible.');
    if (!findComputation(computationItems[0], computationId)) return;
    const computation = parseToChange(domain, computationId, computationItems);
    await removeLink(table, transaction, computation, asset, request);
  });
}

/**
 * Adds the removal of a link between an asset and a computation to the transaction, with its event.
 * @returns false if there is no such link
 */
export async function removeLink(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  asset: LinkedAsset,
  { by, now }: { by: string; now: string },
): Promise<boolean> {
  const { id: computationId, status, run } = computation.row;
  const { id: asset_id, file_name, asset_type } = asset;
  const key = linkKey(computationId, asset);
  const existing = await getItem(table, key);
  if (existing?.['asset_id'] !== asset_id) return false;

  const details = { asset_id, file_name, asset_type };
  const event = administrativeEvent('asset_unlinked', by, details);
  const addedDatasets = asset_type === 'dataset' ? -1 : 0;
  await changeInputsWithEvent(table, transaction, computation, { addedDatasets, event, now });
  transaction.add({ delete: { Key: key, ...hasAttributes({ asset_id }) }, otherwise: StaleReadError });
  const removed = { computation: computationNumber(computationId), version: computation.row.version + 1 };
  removeFromLinked(transaction, asset_id, removed, StaleReadError);
  if (!isActive(status) || !run) return true;
  const { id: run_id } = run;
  // The active run uses the unlinked asset. One note says so of the asset, the other one is for the purge of the computation.
  transaction.add(
    { put: { Item: { ...assetKeys.use(asset_id, run_id), run_id } } },
    { put: { Item: { ...runKeys.use(computationId, run_id, asset_id), asset_id, run_id } } },
  );
  return true;
}

/**
 * Adds a computation to the list of those that an asset is linked to.
 * @param computation.version the version of the computation after the change
 */
export function addToLinked(transaction: Transaction, assetId: string, { id, version }: { id: string; version: number }): void {
  const number = computationNumber(id);
  transaction.add({ put: { Item: { ...listKeys.row(lists.linkedComputations(assetId), number), id } } });
  recordMember(transaction, rowLists.linkedComputations(assetId), { number, version, now: 'all' });
}

/**
 * Reads in one round trip whether a computation is in the list of those that an asset is linked to. A rename of the asset leaves
 * this list as it is.
 */
export async function isInLinked(table: Table, assetId: string, computationId: string): Promise<boolean> {
  const key = listKeys.row(lists.linkedComputations(assetId), computationNumber(computationId));
  return (await getItem(table, key)) !== undefined;
}

/**
 * Removes a computation from the list of those that an asset is linked to.
 * @param removed.version the version of the computation after the change; `lastVersion` if the computation is deleted
 * @param otherwise thrown if the computation is not in the list. Default: ConditionFailedError
 */
export function removeFromLinked(
  transaction: Transaction,
  assetId: string,
  { computation, version }: { computation: number; version: number },
  otherwise?: Action['otherwise'],
): void {
  const Key = listKeys.row(lists.linkedComputations(assetId), computation);
  const gone = { Key, ConditionExpression: 'attribute_exists(pk)' };
  transaction.add(otherwise ? { delete: gone, otherwise } : { delete: gone });
  recordMember(transaction, rowLists.linkedComputations(assetId), { number: computation, version, before: 'all' });
}

/**
 * Reads the identifiers of the computations that an asset is linked to.
 * @param limit the most identifiers that are read. Default: all
 */
export async function readLinkedIds(table: Table, assetId: string, { limit }: { limit?: number } = {}): Promise<string[]> {
  const options = { limit, attributes: ['id'] };
  const links = await queryPrefix(table, lists.linkedComputations(assetId).pk, listKeys.prefixes.row, options);
  return links.map((link) => String(link['id']));
}
