import type { Permitted } from '../access/caller.ts';
import { findAsset, assetKey, parseAsset } from '../assets/read-asset.ts';
import type { AssetType } from '../assets/asset.ts';
import { computationKey, computationNumber, parseComputation } from '../computations/read-computation.ts';
import type { StoredComputation } from '../computations/computation.ts';
import type { NewEvent } from '../events/event.ts';
import { appendEvents } from '../events/journal.ts';
import { parseHead } from '../events/journal-head.ts';
import { isActive } from '../computations/run.ts';
import { assetKeys, journalKeys, listKeys, lists, runKeys } from '../table/keys.ts';
import { removeFromList } from '../table/listing.ts';
import { getItem, getItems, type Item, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads, type Action } from '../table/transaction.ts';
import { bumpAsset, changeInputs, type LinkRequest } from './link-asset.ts';
import { linkKey } from './link-keys.ts';

/**
 * Unlinks an asset from a computation; done already, nothing is written. A run that is active keeps what it began with, and
 * the asset is kept for it. Three round trips.
 * @throws ServiceError `not_found`
 */
export async function unlinkAsset(table: Table, request: LinkRequest): Promise<Permitted> {
  const { domain, assetId, computationId, by, now } = request;
  return await withFreshReads(table, async (table) => {
    const keys = [assetKey(domain, assetId), computationKey(domain, computationId), journalKeys.head(computationId)];
    const [assetItem, computationItem, headItem] = await getItems(table, keys);
    const asset = parseAsset(assetItem, assetId);
    const computation = parseComputation(computationItem, computationId);
    const permitted = request.permit(asset, computation);
    const removal = await removeLink(table, domain, computation, headItem, asset, by, now);
    if (removal) await transact(table, [...removal, bumpAsset(domain, asset)]);
    return permitted;
  });
}

/** The same for an asset that is deleted already, whose row has gone. */
export async function unlinkDeletedAsset(
  table: Table,
  domain: string,
  asset: { id: string; asset_type: AssetType; file_name: string },
  computationId: string,
  by: string,
  now: string,
): Promise<void> {
  await withFreshReads(table, async (table) => {
    const keys = [computationKey(domain, computationId), journalKeys.head(computationId), assetKey(domain, asset.id)];
    const [computationItem, headItem, assetItem] = await getItems(table, keys);
    if (findAsset(assetItem, asset.id)) throw new Error('The asset is not deleted.');
    if (computationItem?.['id'] !== computationId) return;
    const computation = parseComputation(computationItem, computationId);
    const removal = await removeLink(table, domain, computation, headItem, asset, by, now);
    if (removal) await transact(table, removal);
  });
}

/** The actions that remove a link and say so in the journal; undefined where there is no such link. */
async function removeLink(
  table: Table,
  domain: string,
  computation: StoredComputation,
  headItem: Item | undefined,
  asset: { id: string; asset_type: AssetType; file_name: string },
  by: string,
  now: string,
): Promise<Action[] | undefined> {
  const key = linkKey(computation.id, asset);
  const existing = await getItem(table, key);
  if (existing?.['asset_id'] !== asset.id) return undefined;

  const { id: asset_id, file_name, asset_type } = asset;
  const details = { asset_id, file_name, asset_type };
  const event: NewEvent = { event_type: 'asset_unlinked', status: 'success', originator: by, details, lifecycle: false };
  const journal = await appendEvents(table, computation.id, parseHead(headItem), [event], now);
  const list = lists.linkedComputations(asset.id);
  const member = computationNumber(computation.id);
  const activeRun = isActive(computation.status) ? computation.run : null;
  return [
    {
      delete: {
        Key: key,
        ConditionExpression: 'asset_id = :id',
        ExpressionAttributeValues: { ':id': asset.id },
      },
      otherwise: new StaleReadError(),
    },
    { delete: { Key: listKeys.row(list, member), ConditionExpression: 'attribute_exists(pk)' }, otherwise: new StaleReadError() },
    ...removeFromList(list, member),
    changeInputs(domain, computation, asset.asset_type === 'dataset' ? -1 : 0),
    ...(activeRun ? keepForRun(asset.id, computation.id, activeRun.id) : []),
    ...journal.actions,
  ];
}

function keepForRun(asset_id: string, computationId: string, run_id: string): Action[] {
  return [
    { put: { Item: { ...assetKeys.use(asset_id, run_id), run_id } } },
    { put: { Item: { ...runKeys.use(computationId, run_id, asset_id), asset_id, run_id } } },
  ];
}
