import type { AssetType } from 'computation-management-formats/vocabulary';
import type { Permitted } from '../http/caller.ts';
import type { StoredAsset } from '../rows/asset.ts';
import { changeAsset } from '../rows/change-asset.ts';
import { assetKey, assetNumber, findAsset, parseAsset } from '../rows/read-asset.ts';
import { changeInputsWithEvent, type ComputationToChange, keysToChange, parseToChange } from '../rows/change-computation.ts';
import { datasetsPerComputation, type StoredComputation } from '../rows/computation.ts';
import { computationNumber, findComputation, parseProviders } from '../rows/read-computation.ts';
import { isActive } from '../rows/run.ts';
import { conflict, ServiceError } from '../runtime/errors.ts';
import type { NewEvent } from '../journal/event.ts';
import { type AnsweredRequest, commitChange, type Committed, Transaction } from '../table/transaction.ts';
import { assetKeys, computationKeys, type Key, listKeys, lists, runKeys, userKeys } from '../table/keys.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { getItem, getItems, type Item, type Table } from '../table/table.ts';
import { StaleReadError, withFreshReads } from '../table/fresh-reads.ts';

/** One algorithm for each computation, and one dataset for each file name. */
export function linkKey(computationId: string, asset: { asset_type: AssetType; file_name: string }): Key {
  return asset.asset_type === 'algorithm'
    ? computationKeys.algorithm(computationId)
    : computationKeys.dataset(computationId, asset.file_name);
}

interface ReadRequest {
  domain: string;
  assetId: string;
  computationId: string;
}

/** One round trip. @throws ServiceError `not_found` */
async function readToLink(
  table: Table,
  { domain, assetId, computationId }: ReadRequest,
): Promise<{ asset: StoredAsset; computation: ComputationToChange; providers: string[] }> {
  const keys = [assetKey(domain, assetId), computationKeys.providers(computationId), ...keysToChange(domain, computationId)];
  const [assetItem, providersItem, ...computationItems] = await getItems(table, keys);
  const asset = parseAsset(assetItem, assetId);
  const computation = parseToChange(domain, computationId, computationItems);
  return { asset, computation, providers: parseProviders(providersItem) };
}

export interface LinkRequest extends AnsweredRequest {
  domain: string;
  assetId: string;
  computationId: string;
  by: string;
  now: string;
  permit: (asset: StoredAsset, computation: StoredComputation, providers: string[]) => Permitted;
}

/**
 * Writes nothing if the link exists. Three round trips.
 * @throws ServiceError `not_found`; `conflict` for a second algorithm or a duplicate file name; `too_large` for dataset 101
 */
export async function linkAsset(table: Table, request: LinkRequest): Promise<Committed<Permitted>> {
  const { domain, assetId, computationId, by, now, answerKeeper } = request;
  return await withFreshReads(table, async (table) => {
    const { asset, computation, providers } = await readToLink(table, request);
    const permitted = request.permit(asset, computation.row, providers);

    const transaction = new Transaction();
    const key = linkKey(computationId, asset);
    const existing = await getItem(table, key);
    if (existing?.['asset_id'] === assetId) return await commitChange(table, transaction, permitted, answerKeeper);
    if (existing) throw placeTaken(asset);
    const addedDatasets = asset.asset_type === 'dataset' ? 1 : 0;
    if (addedDatasets > 0) refuseBeyondLimit(computation.row);

    const { file_name, asset_type, created_by } = asset;
    const details = { asset_id: assetId, file_name, asset_type };
    const event: NewEvent = { event_type: 'asset_linked', status: 'success', originator: by, details, lifecycle: false };
    const linked_as = await changeInputsWithEvent(table, transaction, computation, { addedDatasets, event, now });
    changeAsset(transaction, domain, asset, {});
    transaction.add(
      {
        put: {
          Item: { ...key, ...details, linked_as, linked_by: by, created_by },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
        otherwise: new StaleReadError(),
      },
      { put: { Item: { ...placeOfLink(domain, computationId, { asset_id: assetId, created_by, linked_by: by }) } } },
    );
    addToLinked(transaction, assetId, { id: computationId, version: computation.row.version + 1 });
    return await commitChange(table, transaction, permitted, answerKeeper);
  });
}

/** @throws ServiceError `too_large` */
export function refuseBeyondLimit(computation: StoredComputation): void {
  if (computation.dataset_count < datasetsPerComputation) return;
  throw new ServiceError('too_large', `A computation can have at most ${datasetsPerComputation} datasets. Unlink one first.`);
}

/** @param computation the subject of the sentence */
export function placeTaken({ asset_type, file_name }: StoredAsset, computation = 'The computation'): ServiceError {
  return asset_type === 'algorithm'
    ? conflict('second_algorithm', `${computation} already has an algorithm. Unlink it first.`)
    : conflict('file_name_taken', `${computation} already has a dataset named ${file_name}. Rename or unlink it first.`);
}

/**
 * Writes nothing if there is no link. An active run keeps the asset from deletion. Three round trips, or four without a link.
 * @throws ServiceError `not_found`
 */
export async function unlinkAsset(table: Table, request: LinkRequest): Promise<Committed<Permitted>> {
  const { domain } = request;
  return await withFreshReads(table, async (table) => {
    const { asset, computation, providers } = await readToLink(table, request);
    const permitted = request.permit(asset, computation.row, providers);
    const transaction = new Transaction();
    const isLinked = await removeLink(table, transaction, computation, asset, request);
    if (isLinked) changeAsset(transaction, domain, asset, {});
    else if (await isInLinked(table, asset.id, computation.row.id))
      throw new StaleReadError('The asset was renamed meanwhile, so that its link has another key.');
    return await commitChange(table, transaction, permitted, request.answerKeeper);
  });
}

type LinkedAsset = Pick<StoredAsset, 'id' | 'asset_type' | 'file_name'>;

interface DeletedAssetRequest extends Omit<LinkRequest, 'assetId' | 'permit'> {
  asset: LinkedAsset;
}

/** Like unlinkAsset, for an asset whose row has been deleted. */
export async function unlinkDeletedAsset(table: Table, request: DeletedAssetRequest): Promise<void> {
  const { domain, asset, computationId } = request;
  await withFreshReads(table, async (table) => {
    const keys = [assetKey(domain, asset.id), ...keysToChange(domain, computationId)];
    const [assetItem, ...computationItems] = await getItems(table, keys);
    if (findAsset(assetItem, asset.id))
      throw new StaleReadError('The transaction that deletes the asset is only partly visible.');
    if (!findComputation(computationItems[0], computationId)) return;
    const computation = parseToChange(domain, computationId, computationItems);
    const transaction = new Transaction();
    if (await removeLink(table, transaction, computation, asset, request)) await transaction.commit(table);
  });
}

/** @returns false if there is no such link */
async function removeLink(
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
  const event: NewEvent = { event_type: 'asset_unlinked', status: 'success', originator: by, details, lifecycle: false };
  const addedDatasets = asset_type === 'dataset' ? -1 : 0;
  await changeInputsWithEvent(table, transaction, computation, { addedDatasets, event, now });
  transaction.add({
    delete: { Key: key, ConditionExpression: 'asset_id = :id', ExpressionAttributeValues: { ':id': asset_id } },
    otherwise: new StaleReadError(),
  });
  const removed = { computation: computationNumber(computationId), version: computation.row.version + 1 };
  removeFromLinked(transaction, asset_id, removed, new StaleReadError());
  transaction.add({ delete: { Key: placeOfLink(computation.domain, computationId, existing) } });
  if (isActive(status) && run) keepForRun(transaction, asset_id, run);
  return true;
}

/** @param link the item of the link */
export function placeOfLink(domain: string, computationId: string, { created_by, linked_by, asset_id }: Item): Key {
  const number = assetNumber(String(asset_id));
  return userKeys.asset(domain, String(created_by), computationNumber(computationId), number, created_by === linked_by);
}

/** Once for the asset, and once for the purge of the computation. */
function keepForRun(
  transaction: Transaction,
  asset_id: string,
  { id: run_id, computation_id }: { id: string; computation_id: string },
) {
  transaction.add(
    { put: { Item: { ...assetKeys.use(asset_id, run_id), run_id } } },
    { put: { Item: { ...runKeys.use(computation_id, run_id, asset_id), asset_id, run_id } } },
  );
}

/** @param computation.version after the change */
function addToLinked(transaction: Transaction, assetId: string, { id, version }: { id: string; version: number }): void {
  const number = computationNumber(id);
  transaction.add({ put: { Item: { ...listKeys.row(lists.linkedComputations(assetId), number), id } } });
  recordMember(transaction, rowLists.linkedComputations(assetId), { number, version, now: 'all' });
}

/** A rename of the asset leaves the list as it is. One round trip. */
async function isInLinked(table: Table, assetId: string, computationId: string): Promise<boolean> {
  const key = listKeys.row(lists.linkedComputations(assetId), computationNumber(computationId));
  return (await getItem(table, key)) !== undefined;
}

/**
 * @param removed.version after the change; `lastVersion` if the computation is deleted
 * @param otherwise thrown if it is not in the list. Default: ConditionFailedError.
 */
export function removeFromLinked(
  transaction: Transaction,
  assetId: string,
  { computation, version }: { computation: number; version: number },
  otherwise?: Error,
): void {
  const Key = listKeys.row(lists.linkedComputations(assetId), computation);
  const gone = { Key, ConditionExpression: 'attribute_exists(pk)' };
  transaction.add(otherwise ? { delete: gone, otherwise } : { delete: gone });
  recordMember(transaction, rowLists.linkedComputations(assetId), { number: computation, version, before: 'all' });
}
