import type { Permitted } from '../http/caller.ts';
import { type StoredAsset, changeAsset, assetKey, parseAsset } from '../rows/asset.ts';
import { changeInputsWithEvent, keysToChange, parseToChange } from '../rows/change-computation.ts';
import { datasetsPerComputation, type StoredComputation } from '../rows/computation.ts';
import { conflict, ServiceError } from '../runtime/errors.ts';
import { administrativeEvent } from '../journal/journal.ts';
import { type UserRequest, type Committed, StaleReadError, makeChange } from '../table/transaction.ts';
import { computationKeys } from '../table/keys.ts';
import { type Table, getItem, getItems } from '../table/table.ts';
import { linkKey, removeLink, addToLinked, isInLinked } from '../rows/link.ts';
import { parseProviders } from '../rows/definition.ts';

/**
 * Reads an asset, a computation and its providers, to link or unlink the asset. One round trip.
 * @throws ServiceError `not_found`
 */
async function readToLink(table: Table, { domain, assetId, computationId }: LinkRequest) {
  const keys = [assetKey(domain, assetId), computationKeys.providers(computationId), ...keysToChange(domain, computationId)];
  const [assetItem, providersItem, ...computationItems] = await getItems(table, keys);
  const asset = parseAsset(assetItem, assetId);
  const computation = parseToChange(domain, computationId, computationItems);
  return { asset, computation, providers: parseProviders(providersItem) };
}

export interface LinkRequest extends UserRequest {
  assetId: string;
  computationId: string;
  permit: (asset: StoredAsset, computation: StoredComputation, providers: string[]) => Permitted;
}

/**
 * Links an asset to a computation. Writes nothing if the asset is linked already. Three round trips.
 * @throws ServiceError `not_found`; `conflict` for a second algorithm or a duplicate file name; `too_large` for dataset 101
 */
export async function linkAsset(table: Table, request: LinkRequest): Promise<Committed<Permitted>> {
  const { domain, assetId, computationId, by, now, answerKeeper } = request;
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const { asset, computation, providers } = await readToLink(table, request);
    const permitted = request.permit(asset, computation.row, providers);

    const key = linkKey(computationId, asset);
    const existing = await getItem(table, key);
    if (existing?.['asset_id'] === assetId) return permitted;
    if (existing) throw placeTaken(asset);
    const addedDatasets = asset.asset_type === 'dataset' ? 1 : 0;
    if (addedDatasets > 0) refuseBeyondLimit(computation.row);

    const { file_name, asset_type, created_by } = asset;
    const details = { asset_id: assetId, file_name, asset_type };
    const event = administrativeEvent('asset_linked', by, details);
    const linked_as = await changeInputsWithEvent(table, transaction, computation, { addedDatasets, event, now });
    changeAsset(transaction, domain, asset, {});
    transaction.add({
      put: {
        Item: { ...key, ...details, linked_as, linked_by: by, created_by },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
      otherwise: StaleReadError,
    });
    addToLinked(transaction, assetId, { id: computationId, version: computation.row.version + 1 });
    return permitted;
  });
}

/** Throws if a computation already has the largest number of datasets. @throws ServiceError `too_large` */
export function refuseBeyondLimit(computation: StoredComputation): void {
  if (computation.dataset_count < datasetsPerComputation) return;
  throw new ServiceError('too_large', `A computation can have at most ${datasetsPerComputation} datasets. Unlink one first.`);
}

/**
 * Returns the error `conflict` for an asset that cannot be linked to a computation because another algorithm, or a dataset with
 * the same file name, is linked already.
 * @param computation the subject of the sentence
 */
export function placeTaken({ asset_type, file_name }: StoredAsset, computation = 'The computation'): ServiceError {
  return asset_type === 'algorithm'
    ? conflict('second_algorithm', `${computation} already has an algorithm. Unlink it first.`)
    : conflict('file_name_taken', `${computation} already has a dataset named ${file_name}. Rename or unlink it first.`);
}

/**
 * Removes the link of an asset to a computation. Writes nothing if there is no link. An active run that uses the asset still
 * keeps it from deletion. Three round trips, or four without a link.
 * @throws ServiceError `not_found`
 */
export async function unlinkAsset(table: Table, request: LinkRequest): Promise<Committed<Permitted>> {
  const { domain } = request;
  return await makeChange(table, request.answerKeeper, async (table, transaction) => {
    const { asset, computation, providers } = await readToLink(table, request);
    const permitted = request.permit(asset, computation.row, providers);
    const isLinked = await removeLink(table, transaction, computation, asset, request);
    if (isLinked) changeAsset(transaction, domain, asset, {});
    else if (await isInLinked(table, asset.id, computation.row.id))
      throw new StaleReadError('The asset was renamed meanwhile, so that its link has another key.');
    return permitted;
  });
}
