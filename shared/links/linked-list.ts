import { computationNumber } from '../computations/find-computation.ts';
import { indexedLists, memberChange } from '../lists/indexed-list.ts';
import { recordChange } from '../lists/record-change.ts';
import { listKeys, lists } from '../table/keys.ts';
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
