import { laterOf } from 'computation-management-formats/timestamps';
import type { ComputationStatus } from 'computation-management-formats/vocabulary';
import type { NewEvent } from '../events/event.ts';
import { type JournalHead, parseHead } from '../events/stored-journal.ts';
import { appendEvents } from '../events/append-events.ts';
import { dayOf } from '../lists/days.ts';
import { groupOfOwner, indexedLists, memberChange, stateOf } from '../lists/indexed-list.ts';
import type { MemberChange, Step } from '../lists/log.ts';
import { recordChange } from '../lists/fold-due.ts';
import { computationKeys, journalKeys, type Key, keyToWrite, type RowKey, userKeys } from '../table/keys.ts';
import { readSettled, StaleReadError } from '../table/fresh-reads.ts';
import { schemaAttribute } from '../table/parse-stored.ts';
import { setAttributes } from '../table/writes.ts';
import type { Item, Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import type { ComputationFields, StoredComputation } from './computation.ts';
import { computationKey, computationNumber, parseComputation } from './read-computation.ts';
import type { Run } from './run.ts';

/** A computation that was read in order to change it. Every change fails with StaleReadError if row or head have changed since. */
export interface ComputationToChange {
  domain: string;
  row: StoredComputation;
  head: JournalHead;
}

type RowToChange = Pick<ComputationToChange, 'domain' | 'row'>;

/** The items that parseToChange parses. @throws ServiceError `not_found` as computationKey does */
export function keysToChange(domain: string, id: string): [RowKey, Key] {
  return [computationKey(domain, id), journalKeys.head(id)];
}

/** @throws ServiceError `not_found` */
export function parseToChange(domain: string, id: string, [row, head]: (Item | undefined)[]): ComputationToChange {
  return { domain, row: parseComputation(row, id), head: parseHead(head) };
}

/** No item read afterwards is older than the row. One round trip. @throws ServiceError `not_found` */
export async function readToChange(table: Table, domain: string, id: string): Promise<ComputationToChange> {
  return parseToChange(domain, id, await readSettled(table, keysToChange(domain, id)));
}

const entryEvents = {
  created: { event_type: 'created', status: 'success' },
  running: { event_type: 'started', status: 'success' },
  stopping: { event_type: 'stop_requested', status: 'success' },
  completed: { event_type: 'completed', status: 'success' },
  failed: { event_type: 'failed', status: 'failure' },
  cancelled: { event_type: 'cancelled', status: 'success' },
} as const satisfies Record<ComputationStatus, { event_type: string; status: string }>;

/** How the journal records a change of status. */
export interface Entry {
  originator: string;
  details: Record<string, unknown>;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
}

/** Adds the row, the list entry, the statistics and the event `created`. */
export async function addComputation(
  table: Table,
  transaction: Transaction,
  { domain, row }: { domain: string; row: StoredComputation & { status: 'created' } },
  entry: Entry,
): Promise<void> {
  const Item = { ...keyToWrite(computationKey(domain, row.id)), ...schemaAttribute, ...row };
  transaction.add(
    { put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
    { put: { Item: { ...placeOfOwner(domain, row) } } },
  );
  const change = listChange({ domain, row }, { now: row.status });
  await recordEntry(table, transaction, { domain, row, head: parseHead(undefined) }, [change], entry);
}

function placeOfOwner(domain: string, { id, owner, created_by }: StoredComputation): Key {
  return userKeys.owner(domain, owner, computationNumber(id), owner === created_by);
}

/** Sets the latest run and takes over its status. @param runChange the run's own change in the list of runs */
export async function enterStatus(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  { run, runChange }: { run: Run; runChange: MemberChange },
  entry: Entry,
): Promise<void> {
  const { status } = run;
  const change = listChange(computation, { before: computation.row.status, now: status });
  const row = changeRow(transaction, computation, { status, run });
  await recordEntry(table, transaction, { ...computation, row }, [change, runChange], entry);
}

async function recordEntry(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  changes: MemberChange[],
  { originator, details, now }: Entry,
): Promise<void> {
  const { domain, row } = computation;
  const state = stateOf(indexedLists.computations(domain), row.status);
  recordInList(transaction, computation, { changes, entered: { day: dayOf(Date.parse(now)), state } });
  const ofRun = row.run ? { run_id: row.run.id, cvm_id: row.run.cvm_id } : {};
  const event = { ...entryEvents[row.status], ...ofRun, originator, details, lifecycle: true } as const;
  await append(table, transaction, computation, [event], now);
}

/** Replaces the fields that users set, and records `events`. @returns the row after the change */
export async function replaceFields(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  fields: ComputationFields,
  { events, now }: { events: NewEvent[]; now: string },
): Promise<StoredComputation> {
  const { domain, row: before } = computation;
  const row = changeRow(transaction, computation, { ...fields, updated_at: laterOf(before.updated_at, now) });
  if (row.owner !== before.owner) {
    transaction.add({ delete: { Key: placeOfOwner(domain, before) } }, { put: { Item: { ...placeOfOwner(domain, row) } } });
    const moved = { before: row.status, now: row.status, groupBefore: groupOfOwner(before.owner) };
    recordInList(transaction, { domain, row }, { changes: [listChange({ domain, row }, moved)] });
  }
  await append(table, transaction, computation, events, now);
  return row;
}

/**
 * Increments the version of the row, so that no run starts with inputs that were checked before this change.
 * @param change.addedDatasets the number of datasets linked; negative if they were unlinked
 */
export function changeInputs(
  transaction: Transaction,
  computation: RowToChange,
  { addedDatasets }: { addedDatasets: number },
): void {
  changeRow(transaction, computation, { dataset_count: computation.row.dataset_count + addedDatasets });
}

/** Like changeInputs, with an event. @returns the number of the event */
export async function changeInputsWithEvent(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  { event, now, ...change }: { addedDatasets: number; event: NewEvent; now: string },
): Promise<number> {
  changeInputs(transaction, computation, change);
  return await append(table, transaction, computation, [event], now);
}

/** Records 1 to 50 events that do not change the computation. Asserts that it still exists. */
export async function recordEvents(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  events: NewEvent[],
  now: string,
): Promise<void> {
  assertExists(transaction, computation.domain, computation.row.id);
  await append(table, transaction, computation, events, now);
}

/** The transaction fails with StaleReadError if the computation has been deleted. */
export function assertExists(transaction: Transaction, domain: string, id: string): void {
  const Key = keyToWrite(computationKey(domain, id));
  const check = { Key, ConditionExpression: 'id = :id', ExpressionAttributeValues: { ':id': id } };
  transaction.add({ check, otherwise: new StaleReadError() });
}

/** Removes the row, the list entry and the journal's head. The purge removes the rest. */
export function removeComputation(transaction: Transaction, { domain, row }: RowToChange): void {
  transaction.add(
    { delete: { Key: keyToWrite(computationKey(domain, row.id)), ...unchanged(row) }, otherwise: new StaleReadError() },
    { delete: { Key: journalKeys.head(row.id) } },
  );
  const change = listChange({ domain, row }, { before: row.status });
  recordInList(transaction, { domain, row: { ...row, version: row.version + 1 } }, { changes: [change] });
}

/** Adds nothing if they stay the same. */
export function replaceConsumers(
  transaction: Transaction,
  { domain, id }: { domain: string; id: string },
  { before, after }: { before: string[]; after: string[] },
): void {
  if (isSameList(before, after)) return;
  const key = computationKeys.consumers(id);
  transaction.add(after.length > 0 ? { put: { Item: { ...key, consumers: after } } } : { delete: { Key: key } });
  const placeOf = (user: string) => userKeys.consumer(domain, user, computationNumber(id));
  const [added, removed] = [after.filter((user) => !before.includes(user)), before.filter((user) => !after.includes(user))];
  for (const user of added) transaction.add({ put: { Item: { ...placeOf(user) } } });
  for (const user of removed) transaction.add({ delete: { Key: placeOf(user) } });
}

/** Adds nothing if they stay the same. */
export function replaceProviders(
  transaction: Transaction,
  id: string,
  { before, after }: { before: string[]; after: string[] },
): void {
  if (isSameList(before, after)) return;
  const key = computationKeys.providers(id);
  transaction.add(after.length > 0 ? { put: { Item: { ...key, providers: after } } } : { delete: { Key: key } });
}

export function isSameList(before: string[], after: string[]): boolean {
  return before.length === after.length && before.every((user, index) => user === after[index]);
}

async function append(
  table: Table,
  transaction: Transaction,
  { domain, row, head }: ComputationToChange,
  events: NewEvent[],
  now: string,
): Promise<number> {
  const appended = await appendEvents(table, { domain, computationId: row.id }, head, events, now);
  transaction.add(...appended.actions);
  return appended.head.count;
}

function listChange(
  { domain, row: { id, owner } }: RowToChange,
  change: { before?: ComputationStatus; now?: ComputationStatus; groupBefore?: string },
): MemberChange {
  return memberChange(indexedLists.computations(domain), computationNumber(id), { ...change, group: groupOfOwner(owner) });
}

function recordInList(
  transaction: Transaction,
  { domain, row: { id, version } }: RowToChange,
  step: Omit<Step, 'version'>,
): void {
  recordChange(transaction, indexedLists.computations(domain).index, { resource: computationNumber(id), version, ...step });
}

/** What can change besides the status, which changes together with the run. */
type RowChange = Partial<Omit<StoredComputation, 'id' | 'created_at' | 'version' | 'status' | 'run'>>;

/** The only statement that changes a computation's row. Increments `version`. @returns the row after the change */
function changeRow(
  transaction: Transaction,
  { domain, row }: RowToChange,
  change: RowChange | { status: ComputationStatus; run: Run },
): StoredComputation {
  const next = { ...change, version: row.version + 1 };
  const set = setAttributes(next);
  const guard = unchanged(row);
  transaction.add({
    update: {
      Key: keyToWrite(computationKey(domain, row.id)),
      UpdateExpression: set.UpdateExpression,
      ConditionExpression: guard.ConditionExpression,
      ExpressionAttributeNames: set.ExpressionAttributeNames,
      ExpressionAttributeValues: { ...set.ExpressionAttributeValues, ...guard.ExpressionAttributeValues },
    },
    otherwise: new StaleReadError(),
  });
  return { ...row, ...next };
}

function unchanged({ id, version }: StoredComputation) {
  return {
    ConditionExpression: 'id = :id AND version = :version',
    ExpressionAttributeValues: { ':id': id, ':version': version },
  };
}
