import { assetKey, parseAsset, type StoredAsset } from '../rows/asset.ts';
import { type StoredComputation, type ComputationRow, computationKey, findComputation } from '../rows/computation.ts';
import { readPage } from '../table/read-page.ts';
import { rowLists } from '../table/row-lists.ts';
import { type Table, getItem, getItemsOf, deadlineOf, getItems, type Item } from '../table/table.ts';
import { readLinkedIds, linkKey } from '../rows/link.ts';
import { changeInputs } from '../rows/change-computation.ts';
import { maxTimeInMilliseconds } from '../runtime/deadline.ts';
import { conflict } from '../runtime/errors.ts';
import { Transaction, StaleReadError, writeFresh } from '../table/transaction.ts';
import { placeTaken, refuseBeyondLimit } from './link-asset.ts';

/** Reads all computations that an asset is linked to. Two round trips. */
export async function readLinkedComputations(table: Table, domain: string, assetId: string): Promise<StoredComputation[]> {
  return await readRows(table, domain, await readLinkedIds(table, assetId));
}

/** Reads computations by their identifiers. Leaves out those that have been deleted. One round trip. */
export async function readRows(table: Table, domain: string, ids: string[]): Promise<StoredComputation[]> {
  const items = await getItemsOf(table, ids, (id) => computationKey(domain, id));
  return ids.flatMap((id, index) => findComputation(items[index], id) ?? []);
}

/**
 * Lists the computations that an asset is linked to, newest first, with the exact total. Takes one more round trip than readPage.
 * @throws ServiceError `not_found`
 */
export async function listLinkedComputations(
  table: Table,
  domain: string,
  assetId: string,
  request: { limit: number; offset: number },
): Promise<{ computations: ComputationRow[]; total: number }> {
  const [assetItem, page] = await Promise.all([
    getItem(table, assetKey(domain, assetId)),
    readPage(table, rowLists.linkedComputations(assetId), request),
  ]);
  parseAsset(assetItem, assetId);
  const ids = page.rows.map((row) => String(row['id']));
  return { computations: await readRows(table, domain, ids), total: page.total };
}

/**
 * The number of linked computations that get a new version in the same transaction as the change of their asset. Further
 * computations follow after it.
 */
const computationsPerTransaction = 80;

/**
 * The time in milliseconds within which a start of a run ends, its last write included. A start takes up to 5 seconds, and its
 * last write a little longer.
 */
const startsEndWithinMilliseconds = 2 * maxTimeInMilliseconds;

/**
 * The longest time in milliseconds from the start of a request to change an asset to the change itself. The asset stores the
 * former as its time of change.
 */
const changedWithinMilliseconds = maxTimeInMilliseconds;

/**
 * Adds to the transaction a new version of each computation that the asset is linked to, so that no run starts with the asset as
 * it was before. Covers the first 80 computations.
 * @returns the identifiers of the computations that did not fit into the transaction, for changeInputsLater
 */
export async function changeInputsOfLinked(table: Table, transaction: Transaction, domain: string, assetId: string) {
  const computations = await readLinkedComputations(table, domain, assetId);
  for (const row of computations.slice(0, computationsPerTransaction)) {
    changeInputs(transaction, { domain, row }, { addedDatasets: 0 });
  }
  return computations.slice(computationsPerTransaction).map(({ id }) => id);
}

/**
 * Gives the computations a new version, in transactions of 80, so that no run starts with the former state of a linked asset.
 * Ends after 10 seconds at the latest, when no start is left that read the asset before its change. Safe to repeat.
 * @throws ServiceError `unavailable`
 */
export async function changeInputsLater(table: Table, domain: string, computationIds: string[]): Promise<void> {
  const deadline = deadlineOf(table);
  const sinceChange = deadline.next(startsEndWithinMilliseconds);
  for (let start = 0; start < computationIds.length; start += computationsPerTransaction) {
    if (sinceChange.elapsed >= startsEndWithinMilliseconds) return;
    const ids = computationIds.slice(start, start + computationsPerTransaction);
    const part = deadline.next();
    await writeFresh({ ...table, deadline: () => part }, async (table, transaction) => {
      for (const row of await readRows(table, domain, ids)) changeInputs(transaction, { domain, row }, { addedDatasets: 0 });
    });
  }
}

/**
 * Completes what an interrupted update of an asset may have left undone in the linked computations. Does nothing once no start of
 * a run can have read the asset before that update.
 * @param times.changedAt when the request began that changed the asset
 * @throws ServiceError `unavailable`
 */
export async function completeChangeOfLinked(
  table: Table,
  { domain, assetId }: { domain: string; assetId: string },
  { changedAt, now }: { changedAt: string; now: string },
): Promise<void> {
  if (Date.parse(now) - Date.parse(changedAt) >= changedWithinMilliseconds + startsEndWithinMilliseconds) return;
  const reading = deadlineOf(table).next();
  const ids = await readLinkedIds({ ...table, deadline: () => reading }, assetId);
  if (ids.length > computationsPerTransaction) await changeInputsLater(table, domain, ids);
}

/**
 * The largest number of links to computations that an asset may have for its name or type to be changed. One transaction changes
 * all, with three actions for each link.
 */
const maxLinksToRename = 30;

/** Tells whether a change of an asset affects its links to computations, which contain its file name and type. */
export function isRenamed(from: StoredAsset, to: StoredAsset): boolean {
  return from.file_name !== to.file_name || from.asset_type !== to.asset_type;
}

/**
 * Adds to the transaction the new file name and type of an asset in all computations that it is linked to.
 * @throws ServiceError `conflict` if the asset has more than 30 links, or if a computation already has an algorithm or a dataset
 *   with this file name; `too_large` if a computation has too many datasets
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
 * Throws the error that a change of an asset's name or type would throw because of its links to computations. Writes nothing.
 * @throws ServiceError `conflict`; `too_large`
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

/**
 * Reads the identifiers of the computations that an asset is linked to.
 * @throws ServiceError `conflict` if there are more than 30
 */
async function linkedComputationIds(table: Table, assetId: string): Promise<string[]> {
  const limit = maxLinksToRename + 1;
  const ids = await readLinkedIds(table, assetId, { limit });
  if (ids.length < limit) return ids;
  throw conflict(
    'linked_too_widely',
    `The asset is linked to more than ${maxLinksToRename} computations, so its file_name and asset_type cannot be changed. Create another asset instead.`,
  );
}

/** Adds to the transaction that the link of an asset in a computation moves to the key for the asset's new name and type. */
function moveLink(transaction: Transaction, id: string, link: Item, { from, to }: { from: StoredAsset; to: StoredAsset }): void {
  const { file_name, asset_type, created_by } = to;
  const [oldKey, newKey] = [linkKey(id, from), linkKey(id, to)];
  const put = { Item: { ...link, ...newKey, file_name, asset_type, created_by } };
  if (oldKey.sk === newKey.sk) {
    transaction.add({ put });
    return;
  }
  transaction.add(
    { delete: { Key: oldKey, ConditionExpression: 'attribute_exists(pk)' }, otherwise: StaleReadError },
    { put: { ...put, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: placeTaken(to, linkedTo(id)) },
  );
}

function linkedTo(computationId: string): string {
  return `Computation ${computationId}, which the asset is linked to,`;
}

const datasetCount = ({ asset_type }: StoredAsset) => (asset_type === 'dataset' ? 1 : 0);
