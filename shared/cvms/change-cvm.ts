import { indexedLists, memberChange } from '../lists/indexed-list.ts';
import { recordChange } from '../lists/record-change.ts';
import { cvmKeys, listKeys, lists } from '../table/keys.ts';
import { schemaAttribute } from '../table/schema-version.ts';
import { setAttributes } from '../table/set-attributes.ts';
import { StaleReadError } from '../table/fresh-reads.ts';
import type { Transaction } from '../table/transaction.ts';
import type { StoredCvm } from './cvm.ts';

/** Registers a CVM: its item and its place in the list. Fails with StaleReadError if it has been registered since it was read. */
export function addCvm(transaction: Transaction, domain: string, cvm: StoredCvm): void {
  const { id, listed_as } = cvm;
  const Item = { ...cvmKeys.cvm(domain, id), ...schemaAttribute, ...cvm };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() });
  const row = { ...listKeys.row(lists.cvms(domain), listed_as), id };
  transaction.add({ put: { Item: row, ConditionExpression: 'attribute_not_exists(pk)' } });
  recordMember(transaction, domain, cvm, { now: 'all' });
}

/**
 * Changes a registered CVM, but not its presence. Fails with StaleReadError if it has changed since it was read.
 * @returns the CVM after the change
 */
export function changeCvm(
  transaction: Transaction,
  domain: string,
  cvm: StoredCvm,
  change: Pick<StoredCvm, 'description' | 'certificate_fingerprint' | 'updated_at'>,
): StoredCvm {
  const changes = { ...change, version: cvm.version + 1 };
  const set = setAttributes(changes);
  const guard = unchanged(cvm);
  const update = {
    ...set,
    ...guard,
    ExpressionAttributeValues: { ...set.ExpressionAttributeValues, ...guard.ExpressionAttributeValues },
    Key: cvmKeys.cvm(domain, cvm.id),
  };
  transaction.add({ update, otherwise: new StaleReadError() });
  return { ...cvm, ...changes };
}

/** Removes a registered CVM with its presence. Fails with StaleReadError if it has changed since it was read. */
export function removeCvm(transaction: Transaction, domain: string, cvm: StoredCvm): void {
  transaction.add({ delete: { Key: cvmKeys.cvm(domain, cvm.id), ...unchanged(cvm) }, otherwise: new StaleReadError() });
  transaction.add({ delete: { Key: listKeys.row(lists.cvms(domain), cvm.listed_as) } });
  recordMember(transaction, domain, { ...cvm, version: cvm.version + 1 }, { before: 'all' });
}

/** Adds the change of a CVM in the list. @param cvm after the change */
function recordMember(
  transaction: Transaction,
  domain: string,
  { listed_as, version }: StoredCvm,
  change: { before?: 'all'; now?: 'all' },
): void {
  const list = indexedLists.cvms(domain);
  recordChange(transaction, list.index, { resource: listed_as, version, changes: [memberChange(list, listed_as, change)] });
}

/** The condition that it is the same registration, and has not changed since it was read. */
function unchanged({ listed_as, version }: StoredCvm) {
  return {
    ConditionExpression: 'listed_as = :listed_as AND version = :version',
    ExpressionAttributeValues: { ':listed_as': listed_as, ':version': version },
  };
}
