import type { StoredAsset } from '../assets/asset.ts';
import { changeInputs } from '../computations/change-computation.ts';
import { computationKey, findComputation } from '../computations/find-computation.ts';
import { conflict, type ServiceError } from '../errors.ts';
import { listKeys, lists } from '../table/keys.ts';
import { getItems, queryPrefix, type Item, type Table } from '../table/table.ts';
import { StaleReadError, type Transaction } from '../table/transaction.ts';
import { refuseBeyondLimit } from './link-asset.ts';
import { linkKey } from './link-keys.ts';

/** A name or type changes in every computation that the asset is linked to, in one transaction: three actions for each. */
const mostLinksOfARename = 30;

/**
 * Renames an asset in the computations that it is linked to; nothing is done if name and type stay.
 * @throws ServiceError `conflict` if it is linked to more than 30, or a computation has such an asset already; `too_large`
 */
export async function renameLinks(
  table: Table,
  transaction: Transaction,
  domain: string,
  { from, to }: { from: StoredAsset; to: StoredAsset },
): Promise<void> {
  if (from.file_name === to.file_name && from.asset_type === to.asset_type) return;
  const ids = await linkedComputationIds(table, from.id);
  const keys = [...ids.map((id) => computationKey(domain, id)), ...ids.map((id) => linkKey(id, from))];
  const items = await getItems(table, keys);
  const addedDatasets = datasets(to) - datasets(from);
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

async function linkedComputationIds(table: Table, assetId: string): Promise<string[]> {
  const limit = mostLinksOfARename + 1;
  const links = await queryPrefix(table, lists.linkedComputations(assetId).pk, listKeys.prefixes.row, { limit });
  if (links.length < limit) return links.map((link) => String(link['id']));
  throw conflict(
    'linked_too_widely',
    `The asset is linked to more than ${mostLinksOfARename} computations; its file_name and asset_type stay. Create another asset instead.`,
  );
}

/** The link stands under its asset's name and type, so it moves with them. */
function moveLink(transaction: Transaction, id: string, link: Item, { from, to }: { from: StoredAsset; to: StoredAsset }): void {
  const { file_name, asset_type } = to;
  const [oldKey, newKey] = [linkKey(id, from), linkKey(id, to)];
  const put = { Item: { ...link, ...newKey, file_name, asset_type } };
  if (oldKey.sk === newKey.sk) {
    transaction.add({ put });
    return;
  }
  transaction.add(
    { delete: { Key: oldKey, ConditionExpression: 'attribute_exists(pk)' }, otherwise: new StaleReadError() },
    { put: { ...put, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: taken(id, to) },
  );
}

function taken(computationId: string, { asset_type, file_name }: StoredAsset): ServiceError {
  const computation = `Computation ${computationId}, which the asset is linked to, has`;
  return asset_type === 'algorithm'
    ? conflict('second_algorithm', `${computation} an algorithm already.`)
    : conflict('file_name_taken', `${computation} a dataset named ${file_name} already.`);
}

const datasets = ({ asset_type }: StoredAsset) => (asset_type === 'dataset' ? 1 : 0);
