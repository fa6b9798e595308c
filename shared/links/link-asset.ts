import type { NewEvent } from '../events/event.ts';
import type { Permitted } from '../access/caller.ts';
import type { StoredAsset } from '../assets/asset.ts';
import { changeAsset } from '../assets/change-asset.ts';
import { assetNumber } from '../assets/read-asset.ts';
import { changeInputsWithEvent } from '../computations/change-computation.ts';
import { datasetsPerComputation, type StoredComputation } from '../computations/computation.ts';
import { computationNumber } from '../computations/find-computation.ts';
import { conflict, ServiceError } from '../errors.ts';
import { commitChange, type AnsweredRequest, type Committed } from '../table/commit-change.ts';
import { userKeys } from '../table/keys.ts';
import { getItem, type Table } from '../table/table.ts';
import { StaleReadError, Transaction, withFreshReads } from '../table/transaction.ts';
import { linkKey } from './link-keys.ts';
import { addToLinked } from './linked-list.ts';
import { readToLink } from './read-to-link.ts';

/** The asset, the computation and the user who links or unlinks them. */
export interface LinkRequest extends AnsweredRequest {
  domain: string;
  assetId: string;
  computationId: string;
  by: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** Called with the current asset and computation. Throws to refuse the request. */
  permit: (asset: StoredAsset, computation: StoredComputation) => Permitted;
}

/**
 * Links an asset to a computation. Writes nothing if the link exists. Three round trips.
 * @throws ServiceError `not_found`; `conflict` for a second algorithm or a duplicate file name; `too_large` for dataset 101
 */
export async function linkAsset(table: Table, request: LinkRequest): Promise<Committed<Permitted>> {
  const { domain, assetId, computationId, by, now, answerKeeper } = request;
  return await withFreshReads(table, async (table) => {
    const { asset, computation } = await readToLink(table, request);
    const permitted = request.permit(asset, computation.row);

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
        put: { Item: { ...key, ...details, linked_as, created_by }, ConditionExpression: 'attribute_not_exists(pk)' },
        otherwise: new StaleReadError(),
      },
      { put: { Item: { ...userKeys.asset(domain, created_by, computationNumber(computationId), assetNumber(assetId)) } } },
    );
    addToLinked(transaction, assetId, { id: computationId, version: computation.row.version + 1 });
    return await commitChange(table, transaction, permitted, answerKeeper);
  });
}

/** @throws ServiceError `too_large` if the computation already has the maximum number of datasets */
export function refuseBeyondLimit(computation: StoredComputation): void {
  if (computation.dataset_count < datasetsPerComputation) return;
  throw new ServiceError('too_large', `A computation can have at most ${datasetsPerComputation} datasets. Unlink one first.`);
}

/** The refusal to link an asset, or to change its name or type. @param computation the subject of the sentence */
export function placeTaken({ asset_type, file_name }: StoredAsset, computation = 'The computation'): ServiceError {
  return asset_type === 'algorithm'
    ? conflict('second_algorithm', `${computation} already has an algorithm. Unlink it first.`)
    : conflict('file_name_taken', `${computation} already has a dataset named ${file_name}. Rename or unlink it first.`);
}
