import type { Permitted } from '../access/caller.ts';
import type { StoredAsset } from '../assets/asset.ts';
import { changeAsset } from '../assets/change-asset.ts';
import { assetKey, assetNumber, findAsset } from '../assets/read-asset.ts';
import { changeInputsWithEvent } from '../computations/change-computation.ts';
import { keysToChange, parseToChange, type ComputationToChange } from '../computations/computation-to-change.ts';
import { computationNumber, findComputation } from '../computations/find-computation.ts';
import { isActive } from '../computations/run.ts';
import type { NewEvent } from '../events/event.ts';
import { commitChange, type Committed } from '../table/commit-change.ts';
import { assetKeys, runKeys, userKeys } from '../table/keys.ts';
import { getItem, getItems, type Table } from '../table/table.ts';
import { StaleReadError, Transaction, withFreshReads } from '../table/transaction.ts';
import type { LinkRequest } from './link-asset.ts';
import { linkKey } from './link-keys.ts';
import { isInLinked, removeFromLinked } from './linked-list.ts';
import { readToLink } from './read-to-link.ts';

/**
 * Unlinks an asset from a computation. Writes nothing if there is no link. An active run keeps its inputs, so the asset cannot
 * be deleted until that run ends. Three round trips, or four without a link.
 * @throws ServiceError `not_found`
 */
export async function unlinkAsset(table: Table, request: LinkRequest): Promise<Committed<Permitted>> {
  const { domain } = request;
  return await withFreshReads(table, async (table) => {
    const { asset, computation } = await readToLink(table, request);
    const permitted = request.permit(asset, computation.row);
    const transaction = new Transaction();
    const isLinked = await removeLink(table, transaction, computation, asset, request);
    if (isLinked) changeAsset(transaction, domain, asset, {});
    else if (await isInLinked(table, asset.id, computation.row.id))
      throw new StaleReadError('The asset was renamed meanwhile, so that its link has another key.');
    return await commitChange(table, transaction, permitted, request.answerKeeper);
  });
}

/** The fields of an asset that its links need. */
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

/** Removes a link and records an event. @returns false if there is no such link */
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
  const creator = existing['created_by']; // links of earlier versions lack it
  if (typeof creator === 'string') {
    const Key = userKeys.asset(computation.domain, creator, computationNumber(computationId), assetNumber(asset_id));
    transaction.add({ delete: { Key } });
  }
  if (isActive(status) && run) keepForRun(transaction, asset_id, run);
  return true;
}

/** Records that the active run still uses the asset: once for the asset, and once for the purge of the computation. */
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
