import type { StoredAsset } from '../assets/asset.ts';
import { changeInputs } from '../computations/change-computation.ts';
import { computationKey, findComputation } from '../computations/find-computation.ts';
import { conflict } from '../errors.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import { StaleReadError, Transaction } from '../table/transaction.ts';
import { placeTaken, refuseBeyondLimit } from './link-asset.ts';
import { linkKey } from './link-keys.ts';
import { readLinkedIds } from './linked-computations.ts';

/** One transaction changes the name or type in all linked computations, with three actions for each. */
const maxLinksToRename = 30;

/** Returns whether the links of the asset change with it. */
export function isRenamed(from: StoredAsset, to: StoredAsset): boolean {
  return from.file_name !== to.file_name || from.asset_type !== to.asset_type;
}

/**
 * Moves the links of an asset to its new name and type.
 * @throws ServiceError `conflict` if the asset has more than 30 links, or if a computation already has an algorithm or a dataset
 * with this file name; `too_large` if a computation has too many datasets
 */
export async function renameLinks(
  table: Table,
  transaction: Transaction,
  domain: string,
  { from, to }: { from: StoredAsset; to: StoredAsset },
): Promise<void> {
  const ids = await linkedComputationIds(table, from.id);
  const keys = [...ids.map((id) => computationKey(domain, id)), ...ids.map((id) => linkKey(id, from))];
  const items = await getItems(table, keys);
  const addedDatasets = datasetCount(to) - datasetCount(from);
  for (const [index, id] of ids.entries()) {
    const row = findComputation(items[index], id);
    if (!row) continue;
    const link = items[ids.length + index];
    if (link?.['asset_id'] !== from.id) throw new StaleReadError();
    if (addedDatasets > 0) refuseBeyondLimit(row);
    changeInputs(transaction, { domain, row }, { addedDatasets });
    moveLink(transaction, id, link, { from, to });
  }
}

/**
 * Checks whether the asset's name or type can change, and throws the error that the change would throw. Writes nothing.
 * @throws ServiceError as renameLinks does
 */
export async function refuseTakenPlaces(
  table: Table,
  domain: string,
  change: { from: StoredAsset; to: StoredAsset },
): Promise<void> {
  const { from, to } = change;
  if (!isRenamed(from, to)) return;
  await renameLinks(table, new Transaction(), domain, change); // for its errors: this transaction is never committed
  const ids = await linkedComputationIds(table, from.id);
  const keys = [...ids.map((id) => computationKey(domain, id)), ...ids.map((id) => linkKey(id, to))];
  const items = await getItems(table, keys);
  for (const [index, id] of ids.entries()) {
    const link = items[ids.length + index];
    if (findComputation(items[index], id) && link && link['asset_id'] !== from.id) throw placeTaken(to, linkedTo(id));
  }
}

async function linkedComputationIds(table: Table, assetId: string): Promise<string[]> {
  const limit = maxLinksToRename + 1;
  const ids = await readLinkedIds(table, assetId, { limit });
  if (ids.length < limit) return ids;
  throw conflict(
    'linked_too_widely',
    `The asset is linked to more than ${maxLinksToRename} computations, so its file_name and asset_type cannot be changed. Create another asset instead.`,
  );
}

/** Moves a link to a new key, because the key contains the asset's name and type. */
function moveLink(transaction: Transaction, id: string, link: Item, { from, to }: { from: StoredAsset; to: StoredAsset }): void {
  const { file_name, asset_type, created_by } = to;
  const [oldKey, newKey] = [linkKey(id, from), linkKey(id, to)];
  const put = { Item: { ...link, ...newKey, file_name, asset_type, created_by } };
  if (oldKey.sk === newKey.sk) {
    transaction.add({ put });
    return;
  }
  transaction.add(
    { delete: { Key: oldKey, ConditionExpression: 'attribute_exists(pk)' }, otherwise: new StaleReadError() },
    { put: { ...put, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: placeTaken(to, linkedTo(id)) },
  );
}

function linkedTo(computationId: string): string {
  return `Computation ${computationId}, which the asset is linked to,`;
}

const datasetCount = ({ asset_type }: StoredAsset) => (asset_type === 'dataset' ? 1 : 0);
