import { computationNumber } from '../computations/find-computation.ts';
import { indexedLists, memberChange } from '../lists/indexed-list.ts';
import { recordChange } from '../lists/record-change.ts';
import { listKeys, lists } from '../table/keys.ts';
import { getItem, type Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';

/**
 * Adds a computation to the list of those that an asset is linked to.
 * @param computation.version after the change
 */
export function addToLinked(transaction: Transaction, assetId: string, { id, version }: { id: string; version: number }): void {
  const list = indexedLists.linkedComputations(assetId);
  const resource = computationNumber(id);
  transaction.add({ put: { Item: { ...listKeys.row(lists.linkedComputations(assetId), resource), id } } });
  recordChange(transaction, list.index, { resource, version, changes: [memberChange(list, resource, { now: 'all' })] });
}

/** Reads whether a computation is in the list. A rename of the asset leaves the list as it is. One round trip. */
export async function isInLinked(table: Table, assetId: string, computationId: string): Promise<boolean> {
  const key = listKeys.row(lists.linkedComputations(assetId), computationNumber(computationId));
  return (await getItem(table, key)) !== undefined;
}

/**
 * Removes a computation from the list.
 * @param removed.version after the change; `lastVersion` if the computation is deleted
 * @param otherwise thrown if it is not in the list. Default: ConditionFailedError.
 */
export function removeFromLinked(
  transaction: Transaction,
  assetId: string,
  { computation, version }: { computation: number; version: number },
  otherwise?: Error,
): void {
  const list = indexedLists.linkedComputations(assetId);
  const Key = listKeys.row(lists.linkedComputations(assetId), computation);
  const gone = { Key, ConditionExpression: 'attribute_exists(pk)' };
  transaction.add(otherwise ? { delete: gone, otherwise } : { delete: gone });
  const change = memberChange(list, computation, { before: 'all' });
  recordChange(transaction, list.index, { resource: computation, version, changes: [change] });
}
