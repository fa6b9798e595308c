import { numberOf } from 'computation-management-formats/identifiers';
import { type ComputationToChange, enterStatus, type Entry } from '../computations/change-computation.ts';
import { computationNumber } from '../computations/read-computation.ts';
import type { Run } from '../computations/run.ts';
import { groupOfComputation, indexedLists, memberChange } from '../lists/indexed-list.ts';
import { lastVersion, nameOfResource, type MemberChange } from '../lists/log.ts';
import { recordChange } from '../lists/fold-due.ts';
import { StaleReadError } from '../table/fresh-reads.ts';
import { keyToWrite, listKeys, lists, type Key } from '../table/keys.ts';
import { schemaAttribute } from '../table/parse-stored.ts';
import { setAttributes } from '../table/writes.ts';
import type { Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';

/** Adds a run and its list entry. Its computation takes over the status. */
export async function addRun(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  run: Run,
  entry: Entry,
): Promise<void> {
  const { key } = placeOf(computation.domain, run.id);
  const Item = { ...key, ...schemaAttribute, ...run };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } });
  const runChange = memberOf(computation.domain, run, { now: run.status });
  await enterStatus(table, transaction, computation, { run, runChange }, entry);
}

/** Changes a run and the status of its computation. Throws StaleReadError if the run's status has changed since it was read. */
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
  const runChange = memberOf(computation.domain, after, { before: before.status, now: after.status });
  await enterStatus(table, transaction, computation, { run: after, runChange }, entry);
}

/** Keeps the hash of the CVM's attestation with the run. The first one stays. */
export function addAttestationHash(transaction: Transaction, domain: string, runId: string, hash: string): void {
  transaction.add({
    update: {
      Key: placeOf(domain, runId).key,
      UpdateExpression: 'SET attestation_hash = if_not_exists(attestation_hash, :hash)',
      ConditionExpression: 'id = :id',
      ExpressionAttributeValues: { ':id': runId, ':hash': hash },
    },
    otherwise: new StaleReadError(),
  });
}

function memberOf(domain: string, run: Run, change: { before?: Run['status']; now?: Run['status'] }): MemberChange {
  const group = groupOfComputation(computationNumber(run.computation_id));
  return memberChange(indexedLists.runs(domain), placeOf(domain, run.id).number, { ...change, group });
}

/**
 * Removes the run of a deleted computation and its list entry. Throws ConditionFailedError if it is gone.
 * @param deletedAs the version of the computation when it was deleted, while that is in the log
 */
export function removeRun(transaction: Transaction, domain: string, run: Run, deletedAs: number | undefined): void {
  const { number, key } = placeOf(domain, run.id);
  transaction.add({ delete: { Key: key, ConditionExpression: 'attribute_exists(pk)' } });
  const ofComputation = nameOfResource(computationNumber(run.computation_id));
  recordChange(transaction, indexedLists.runs(domain).index, {
    resource: number,
    name: `run-${nameOfResource(number)}`, // an entry of its own: a computation may have thousands of runs
    version: lastVersion,
    changes: [memberOf(domain, run, { before: run.status })],
    ...(deletedAs === undefined ? {} : { after: { name: ofComputation, version: deletedAs } }),
  });
}

function placeOf(domain: string, runId: string): { number: number; key: Key } {
  const number = numberOf(runId);
  if (number === undefined) throw new Error('A stored run has an identifier that this service cannot have issued.');
  return { number, key: keyToWrite(listKeys.row(lists.runs(domain), number)) };
}
