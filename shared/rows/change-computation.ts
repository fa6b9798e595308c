import { laterOf } from 'computation-management-formats/timestamps';
import type { ComputationStatus } from 'computation-management-formats/vocabulary';
import { type NewEvent, type JournalHead, parseHead } from '../journal/journal.ts';
import { type Append, appendEvents } from '../journal/append-events.ts';
import { journalKeys, type Key, keyToWrite, type RowKey } from '../table/keys.ts';
import type { Table, Item } from '../table/table.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { hasAttributes, isAbsent, setAttributesIf } from '../table/writes.ts';
import { type Transaction, readSettled, StaleReadError } from '../table/transaction.ts';
import {
  type ComputationFields,
  type StoredComputation,
  computationKey,
  computationNumber,
  parseComputation,
} from './computation.ts';
import type { Run } from './run.ts';
import { schemaAttribute } from '../table/stored.ts';

/**
 * A computation that was read to be changed: its row and the head of its journal. Every change fails with StaleReadError if row
 * or head have changed since.
 */
export interface ComputationToChange {
  domain: string;
  row: StoredComputation;
  head: JournalHead;
}

type RowToChange = Pick<ComputationToChange, 'domain' | 'row'>;

/** Returns the keys of what must be read before a computation can be changed: its row and the head of its journal. */
export function keysToChange(domain: string, id: string): [RowKey, Key] {
  return [computationKey(domain, id), journalKeys.head(id)];
}

/**
 * Parses the row of a computation and the head of its journal, which were read at `keysToChange`.
 * @throws ServiceError `not_found` if the computation does not exist
 */
export function parseToChange(domain: string, id: string, [row, head]: (Item | undefined)[]): ComputationToChange {
  return { domain, row: parseComputation(row, id), head: parseHead(head) };
}

/**
 * Reads a computation to change it, in one round trip. No item that is read afterwards is older than the row.
 * @throws ServiceError `not_found` if the computation does not exist
 */
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

/** The originator, details and time of a change of a computation's status, for the event in its journal. */
export interface Entry {
  originator: string;
  details: Record<string, unknown>;
  now: string;
}

/** Adds a new computation to the transaction, with its list entries, the count for the statistics and the event `created`. */
export async function addComputation(
  table: Table,
  transaction: Transaction,
  { domain, row }: { domain: string; row: StoredComputation & { status: 'created' } },
  entry: Entry,
): Promise<void> {
  const Item = { ...keyToWrite(computationKey(domain, row.id)), ...schemaAttribute, ...row };
  transaction.add({ put: { Item, ...isAbsent } });
  await recordEntry(table, transaction, { domain, row, head: parseHead(undefined) }, undefined, entry);
}

/**
 * Gives the computation the status of its run, in its row, its lists and its journal. Counts the run if it has ended.
 * @returns the hash of the event in the journal, hex
 */
export async function enterStatus(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  run: Run,
  entry: Entry,
): Promise<string> {
  const { status } = run;
  const { run_counts, status: before } = computation.row;
  const isOver = status !== 'running' && status !== 'stopping';
  const counts = isOver ? { ...run_counts, [status]: (run_counts[status] ?? 0) + 1 } : run_counts;
  const row = changeRow(transaction, computation, { status, run, run_counts: counts });
  return await recordEntry(table, transaction, { ...computation, row }, before, entry);
}

async function recordEntry(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  before: ComputationStatus | undefined,
  { originator, details, now }: Entry,
): Promise<string> {
  const { row } = computation;
  recordInLists(transaction, computation, { before, now: row.status, at: Date.parse(now) });
  const ofRun = row.run ? { run_id: row.run.id, cvm_id: row.run.cvm_id } : {};
  const event = { ...entryEvents[row.status], ...ofRun, originator, details, lifecycle: true } as const;
  const { events } = await append(table, transaction, computation, [event], now);
  return events[0]?.hash ?? '';
}

/**
 * Replaces the fields of a computation that users give, and records `events` in its journal.
 * @returns the row after the change
 */
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
    const number = computationNumber(row.id);
    const { version, status } = row;
    recordMember(transaction, rowLists.ownedComputations(domain, before.owner), { number, version, before: status });
    recordMember(transaction, rowLists.ownedComputations(domain, row.owner), { number, version, now: status });
  }
  await append(table, transaction, computation, events, now);
  return row;
}

/** The numbers of linked datasets and of refusals by which the inputs of a computation grow. Negative if they shrink. */
interface AddedInputs {
  addedDatasets: number;
  addedRefusals?: number;
}

/**
 * Records that the linked assets, the keys or the approvals of a computation change. Increments the version of its row, so that no
 * run starts with inputs that were checked before.
 */
export function changeInputs(
  transaction: Transaction,
  computation: RowToChange,
  { addedDatasets, addedRefusals = 0 }: AddedInputs,
): void {
  const { dataset_count, refusal_count } = computation.row;
  const counts = { dataset_count: dataset_count + addedDatasets, refusal_count: refusal_count + addedRefusals };
  changeRow(transaction, computation, counts);
}

/**
 * Records that the inputs of a computation change, as `changeInputs` does, together with an event.
 * @returns the number of the event
 */
export async function changeInputsWithEvent(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  { event, now, ...change }: AddedInputs & { event: NewEvent; now: string },
): Promise<number> {
  changeInputs(transaction, computation, change);
  return (await append(table, transaction, computation, [event], now)).head.count;
}

/**
 * Records an event about a computation whose inputs stay the same. The transaction fails with StaleReadError if the inputs have
 * changed since they were read.
 */
export async function recordBesideInputs(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  event: NewEvent,
  now: string,
): Promise<void> {
  const Key = keyToWrite(computationKey(computation.domain, computation.row.id));
  transaction.add({ check: { Key, ...unchanged(computation.row) }, otherwise: StaleReadError });
  await append(table, transaction, computation, [event], now);
}

/**
 * Records 1 to 50 events that do not change the computation. The transaction fails with StaleReadError if the computation has
 * been deleted.
 */
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

/**
 * Records that the result of a run has changed: in the row of the computation, if the run is its latest, and as events, if any.
 * The transaction fails with StaleReadError if the computation has been deleted.
 * @returns the hash of the last event, empty without events
 */
export async function enterResult(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  run: Run,
  { events, now }: { events: NewEvent[]; now: string },
): Promise<string> {
  const { domain, row } = computation;
  if (row.run?.id === run.id) changeRow(transaction, computation, { status: row.status, run, run_counts: row.run_counts });
  else assertExists(transaction, domain, row.id);
  if (events.length === 0) return '';
  const appended = await append(table, transaction, computation, events, now);
  return appended.events.at(-1)?.hash ?? '';
}

/**
 * Adds a check that a computation exists to the transaction, which then fails with StaleReadError if the computation has been
 * deleted.
 */
export function assertExists(transaction: Transaction, domain: string, id: string): void {
  const Key = keyToWrite(computationKey(domain, id));
  transaction.add({ check: { Key, ...hasAttributes({ id }) }, otherwise: StaleReadError });
}

/**
 * Adds the deletion of a computation's row to the transaction, with its list entries and the journal's head. A purge removes the
 * rest later.
 */
export function removeComputation(transaction: Transaction, { domain, row }: RowToChange): void {
  transaction.add(
    { delete: { Key: keyToWrite(computationKey(domain, row.id)), ...unchanged(row) }, otherwise: StaleReadError },
    { delete: { Key: journalKeys.head(row.id) } },
  );
  recordInLists(transaction, { domain, row: { ...row, version: row.version + 1 } }, { before: row.status });
}

async function append(
  table: Table,
  transaction: Transaction,
  { domain, row, head }: ComputationToChange,
  events: NewEvent[],
  now: string,
): Promise<Append> {
  const appended = await appendEvents(table, { domain, computationId: row.id }, head, events, now);
  transaction.add(...appended.actions);
  return appended;
}

/**
 * Records a change of a computation's status in the list of its domain and in the list of its owner.
 * @param change.at the time that counts for the statistics, in milliseconds since 1970; undefined if the computation is deleted
 */
function recordInLists(
  transaction: Transaction,
  { domain, row: { id, owner, version } }: RowToChange,
  change: { before?: ComputationStatus | undefined; now?: ComputationStatus; at?: number },
): void {
  const { at, ...states } = change;
  const number = computationNumber(id);
  recordMember(transaction, rowLists.computations(domain), { number, version, ...states, at });
  recordMember(transaction, rowLists.ownedComputations(domain, owner), { number, version, ...states });
}

/** A change of a computation's row that leaves its status as it is. The status changes only together with the run. */
type RowChange = Partial<Omit<StoredComputation, 'id' | 'created_at' | 'version' | keyof StatusChange>>;
type StatusChange = Pick<StoredComputation, 'status' | 'run' | 'run_counts'>;

/**
 * Changes the row of a computation. No other statement does. Increments the version.
 * @returns the row after the change
 */
function changeRow(transaction: Transaction, { domain, row }: RowToChange, change: RowChange | StatusChange): StoredComputation {
  const next = { ...change, version: row.version + 1 };
  const update = { ...setAttributesIf(unchanged(row), next), Key: keyToWrite(computationKey(domain, row.id)) };
  transaction.add({ update, otherwise: StaleReadError });
  return { ...row, ...next };
}

function unchanged({ id, version }: StoredComputation) {
  return hasAttributes({ id, version });
}
