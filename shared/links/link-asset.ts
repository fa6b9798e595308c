import type { Permitted } from '../access/caller.ts';
import { assetKey, parseAsset } from '../assets/read-asset.ts';
import type { StoredAsset } from '../assets/asset.ts';
import { computationKey, computationNumber, parseComputation } from '../computations/read-computation.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { conflict, ServiceError } from '../errors.ts';
import type { NewEvent } from '../events/event.ts';
import { appendEvents } from '../events/journal.ts';
import { parseHead } from '../events/journal-head.ts';
import { journalKeys, listKeys, lists } from '../table/keys.ts';
import { addToList } from '../table/listing.ts';
import { getItem, getItems, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads, type Action } from '../table/transaction.ts';
import { linkKey } from './link-keys.ts';

/** Which asset and computation, on whose behalf, and whether that user may (called with both as they are now). */
export interface LinkRequest {
  domain: string;
  assetId: string;
  computationId: string;
  by: string;
  now: string;
  permit: (asset: StoredAsset, computation: StoredComputation) => Permitted;
}

const datasetsPerComputation = 100;

/**
 * Links an asset to a computation; done already, nothing is written. Three round trips.
 * @throws ServiceError `not_found`; `conflict` for a second algorithm or a file name taken; `too_large` for dataset 101
 */
export async function linkAsset(table: Table, request: LinkRequest): Promise<Permitted> {
  const { domain, assetId, computationId, by, now } = request;
  return await withFreshReads(table, async (table) => {
    const keys = [assetKey(domain, assetId), computationKey(domain, computationId), journalKeys.head(computationId)];
    const [assetItem, computationItem, headItem] = await getItems(table, keys);
    const asset = parseAsset(assetItem, assetId);
    const computation = parseComputation(computationItem, computationId);
    const permitted = request.permit(asset, computation);

    const key = linkKey(computationId, asset);
    const existing = await getItem(table, key);
    if (existing?.['asset_id'] === assetId) return permitted;
    if (existing) throw taken(asset);
    const isDataset = asset.asset_type === 'dataset';
    if (isDataset) refuseBeyondLimit(computation);

    const { file_name, asset_type } = asset;
    const details = { asset_id: assetId, file_name, asset_type };
    const event: NewEvent = { event_type: 'asset_linked', status: 'success', originator: by, details, lifecycle: false };
    const journal = await appendEvents(table, computationId, parseHead(headItem), [event], now);
    const member = computationNumber(computationId);
    const list = lists.linkedComputations(assetId);
    await transact(table, [
      {
        put: {
          Item: { ...key, ...details, linked_as: journal.head.count },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
        otherwise: new StaleReadError(),
      },
      { put: { Item: { ...listKeys.row(list, member), id: computationId } } },
      ...addToList(list, member),
      bumpAsset(domain, asset),
      changeInputs(domain, computation, isDataset ? 1 : 0),
      ...journal.actions,
    ]);
    return permitted;
  });
}

/** @throws ServiceError `too_large` where the computation has all the datasets that it may have */
export function refuseBeyondLimit(computation: StoredComputation): void {
  if (computation.dataset_count < datasetsPerComputation) return;
  throw new ServiceError('too_large', `A computation takes at most ${datasetsPerComputation} datasets.`);
}

function taken(asset: StoredAsset): ServiceError {
  return asset.asset_type === 'algorithm'
    ? conflict('second_algorithm', 'The computation has an algorithm already; unlink that one first.')
    : conflict('file_name_taken', `The computation has a dataset named ${asset.file_name} already.`);
}

/** Makes every other change that read the asset before this one read it again. */
export function bumpAsset(domain: string, asset: StoredAsset): Action {
  return {
    update: {
      Key: assetKey(domain, asset.id),
      UpdateExpression: 'SET version = version + :one',
      ConditionExpression: 'id = :id AND version = :read',
      ExpressionAttributeValues: { ':one': 1, ':id': asset.id, ':read': asset.version },
    },
    otherwise: new StaleReadError(),
  };
}

/** Says in the computation's row that its inputs have changed, so that no run starts with what was checked before. */
export function changeInputs(domain: string, computation: StoredComputation, addedDatasets: number): Action {
  return {
    update: {
      Key: computationKey(domain, computation.id),
      UpdateExpression: 'SET inputs_version = inputs_version + :one, dataset_count = dataset_count + :added',
      ConditionExpression: 'id = :id AND inputs_version = :read AND #status = :status',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ...{ ':one': 1, ':added': addedDatasets, ':id': computation.id },
        ...{ ':read': computation.inputs_version, ':status': computation.status },
      },
    },
    otherwise: new StaleReadError(),
  };
}
