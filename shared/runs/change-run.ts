import { enterStatus, type ComputationToChange, type Entry } from '../computations/change-computation.ts';
import type { Run } from '../computations/run.ts';
import { numberOf } from '../identifiers.ts';
import { keyToWrite, listKeys, lists, type Key } from '../table/keys.ts';
import { addToList, removeFromList } from '../table/listing.ts';
import { schemaVersion } from '../table/schema-version.ts';
import { setAttributes } from '../table/set-attributes.ts';
import type { Table } from '../table/table.ts';
import { StaleReadError, type Transaction } from '../table/transaction.ts';

/** Adds a run and its list entry. Its computation takes over the run's status in the same transaction. */
export async function addRun(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  run: Run,
  entry: Entry,
): Promise<void> {
  const { number, key } = placeOf(computation.domain, run.id);
  transaction.add(
    { put: { Item: { ...key, ...schemaVersion('run'), ...run }, ConditionExpression: 'attribute_not_exists(pk)' } },
    ...addToList(lists.runs(computation.domain), number),
  );
  await enterStatus(table, transaction, computation, run, entry);
}

/**
 * Changes a run from `before` to `after`. Its computation takes over the run's status in the same transaction. The transaction
 * fails with StaleReadError if the run's status has changed since it was read.
 */
export async function changeRun(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  { before, after }: { before: Run; after: Run },
  entry: Entry,
): Promise<void> {
  const { status, ended_at, reason } = after;
  const set = setAttributes({ status, ended_at, reason });
  transaction.add({
    update: {
      Key: placeOf(computation.domain, before.id).key,
      UpdateExpression: set.UpdateExpression,
      ConditionExpression: 'id = :id AND #status = :status',
      ExpressionAttributeNames: { ...set.ExpressionAttributeNames, '#status': 'status' },
      ExpressionAttributeValues: { ...set.ExpressionAttributeValues, ':id': before.id, ':status': before.status },
    },
    otherwise: new StaleReadError(),
  });
  await enterStatus(table, transaction, computation, after, entry);
}

/** Removes the run of a deleted computation and its list entry. Fails with ConditionFailedError if the run was removed before. */
export function removeRun(transaction: Transaction, domain: string, runId: string): void {
  const { number, key } = placeOf(domain, runId);
  transaction.add(
    { delete: { Key: key, ConditionExpression: 'attribute_exists(pk)' } },
    ...removeFromList(lists.runs(domain), number),
  );
}

function placeOf(domain: string, runId: string): { number: number; key: Key } {
  const number = numberOf(runId);
  if (number === undefined) throw new Error('A stored run has an identifier that this service cannot have issued.');
  return { number, key: keyToWrite(listKeys.row(lists.runs(domain), number)) };
}
