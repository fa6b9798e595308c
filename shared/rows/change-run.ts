import { lastVersion } from 'computation-management-counted-list';
import { numberOf } from 'computation-management-formats/identifiers';
import { type ComputationToChange, enterStatus, type Entry } from './change-computation.ts';
import { isActive, type Run } from './run.ts';
import { keyToWrite, listKeys, lists, runKeys, type Key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { setAttributes } from '../table/writes.ts';
import { type Transaction, StaleReadError } from '../table/transaction.ts';
import { schemaAttribute } from '../table/stored.ts';
import { countRuns } from './computation.ts';

/** Adds a new run to the transaction, with its list entry. The computation takes over the status of the run. */
export async function addRun(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  run: Run,
  entry: Entry,
): Promise<void> {
  const { domain, row } = computation;
  const { number, key } = placeOf(domain, run.id);
  const Item = { ...key, ...schemaAttribute, ...run };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } });
  addNth(transaction, run, 'all', countRuns(row) + 1);
  recordMember(transaction, rowLists.runs(domain), { number, version: row.version + 1, now: run.status });
  await enterStatus(table, transaction, computation, run, entry);
}

/**
 * Adds the change of a run's status to the transaction, and the same for its computation. The transaction fails with
 * StaleReadError if the run's status has changed since it was read.
 */
export async function changeRun(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  { before, after }: { before: Run; after: Run },
  entry: Entry,
): Promise<void> {
  const { domain, row } = computation;
  const { status, ended_at, reason, reason_code } = after;
  const { number, key } = placeOf(domain, before.id);
  const set = setAttributes({ status, ended_at, reason, reason_code });
  transaction.add({
    update: {
      Key: key,
      UpdateExpression: set.UpdateExpression,
      ConditionExpression: 'id = :id AND #status = :status',
      ExpressionAttributeNames: { ...set.ExpressionAttributeNames, '#status': 'status' },
      ExpressionAttributeValues: { ...set.ExpressionAttributeValues, ':id': before.id, ':status': before.status },
    },
    otherwise: new StaleReadError(),
  });
  if (!isActive(status)) addNth(transaction, after, status, countRuns(row, status) + 1);
  recordMember(transaction, rowLists.runs(domain), { number, version: row.version + 1, before: before.status, now: status });
  await enterStatus(table, transaction, computation, after, entry);
}

/**
 * Adds the item that says which run of a computation was the nth run of all, or the nth that ended with one status. Only one run
 * of a computation is active at a time, so the numbers have no gaps.
 */
function addNth(transaction: Transaction, { id: run_id, computation_id }: Run, among: string, ordinal: number): void {
  transaction.add({ put: { Item: { ...runKeys.nth(computation_id, among, ordinal), run_id } } });
}

/**
 * Adds the deletion of a run to the transaction, with its list entry, after its computation was deleted. The transaction fails
 * with ConditionFailedError if the run is gone.
 */
export function removeRun(transaction: Transaction, domain: string, run: Run): void {
  const { number, key } = placeOf(domain, run.id);
  transaction.add({ delete: { Key: key, ConditionExpression: 'attribute_exists(pk)' } });
  recordMember(transaction, rowLists.runs(domain), { number, version: lastVersion, before: run.status });
}

function placeOf(domain: string, runId: string): { number: number; key: Key } {
  const number = numberOf(runId);
  if (number === undefined) throw new Error('A stored run has an identifier that this service cannot have issued.');
  return { number, key: keyToWrite(listKeys.row(lists.runs(domain), number)) };
}
