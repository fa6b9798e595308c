import * as v from 'valibot';
import { lastVersion } from 'computation-management-counted-list';
import { numberOf } from 'computation-management-formats/identifiers';
import type { NewEvent } from '../journal/journal.ts';
import { type ComputationToChange, enterResult, enterStatus, type Entry } from './change-computation.ts';
import type { ResultOfRun } from './result.ts';
import { isActive, type Run } from './run.ts';
import { keyToWrite, listKeys, lists, runKeys, type Key, historyKeys } from '../table/keys.ts';
import type { Table, Item } from '../table/table.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { hasAttributes, setAttributesIf } from '../table/writes.ts';
import { type Transaction, StaleReadError } from '../table/transaction.ts';
import { schemaAttribute, parseStored, storedBytes } from '../table/stored.ts';
import { countRuns } from './computation.ts';
import { randomBytes } from 'node:crypto';
import { toHex } from 'computation-management-formats/bytes';
import { lengthOfSalt, logEntry, logTag } from 'computation-management-formats/digests';
import type { LoggedAct } from 'computation-management-formats/vocabulary';

/**
 * Adds a new run to the transaction, with its list entry and its entry of the stage's log. The computation takes over the status
 * of the run.
 */
export async function addRun(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  run: Run,
  entry: Entry,
): Promise<void> {
  const { domain, row } = computation;
  const { number, key } = placeOf(domain, run.id);
  const salt = newSalt();
  const Item = { ...key, ...schemaAttribute, ...run, start_salt: salt };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } });
  addNth(transaction, run, 'all', countRuns(row) + 1);
  recordMember(transaction, rowLists.runs(domain), { number, version: row.version + 1, now: run.status });
  const event_hash = await enterStatus(table, transaction, computation, run, entry);
  addLogEntry(transaction, { type: 'run-start', domain, run, salt, event_hash }, entry.now);
}

/**
 * Adds the change of a run's status to the transaction, and the same for its computation. The end of a run also puts an entry into
 * the stage's log. The transaction fails with StaleReadError if the run's status has changed since it was read.
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
  const salt = isActive(status) ? undefined : newSalt();
  const changes = { status, ended_at, reason, reason_code, ...(salt && { end_salt: salt }) };
  const update = { ...setAttributesIf(hasAttributes({ id: before.id, status: before.status }), changes), Key: key };
  transaction.add({ update, otherwise: StaleReadError });
  if (salt) addNth(transaction, after, status, countRuns(row, status) + 1);
  recordMember(transaction, rowLists.runs(domain), { number, version: row.version + 1, before: before.status, now: status });
  const event_hash = await enterStatus(table, transaction, computation, after, entry);
  if (salt) addLogEntry(transaction, { type: 'run-end', domain, run: after, salt, event_hash }, entry.now);
}

/** A change of the result of a run under review. */
interface ResultChange {
  /** The run as it was read. */
  run: Run & { result: ResultOfRun };
  /** The result after the change. */
  result: ResultOfRun;
  events: (Pick<NewEvent, 'originator' | 'details'> & {
    event_type: 'result_submitted' | 'result_decided' | 'result_released' | 'result_withheld';
  })[];
  now: string;
}

/**
 * Adds the change of the result of a run to the transaction, with its events, in the row of the run and, if the run is the latest, in
 * that of its computation. A result that is released or withheld also gets an entry in the stage's log, of its last event. The
 * transaction fails with StaleReadError if the result has changed since it was read.
 */
export async function changeResult(
  table: Table,
  transaction: Transaction,
  computation: ComputationToChange,
  { run, result, events, now }: ResultChange,
): Promise<void> {
  const isOver = result.state !== run.result.state && (result.state === 'released' || result.state === 'withheld');
  const salt = isOver ? newSalt() : undefined;
  const { asset, state, decisions } = run.result;
  // Decisions are only added, so state, asset and their number tell every version of a result apart.
  const isSame = '#result.#state = :state AND size(#result.decisions) = :count AND ';
  const isSameAsset = asset === null ? 'attribute_type(#result.asset, :null)' : '#result.asset = :asset';
  const condition = {
    ConditionExpression: isSame + isSameAsset,
    ExpressionAttributeNames: { '#result': 'result', '#state': 'state' },
    ExpressionAttributeValues: {
      ':state': state,
      ':count': decisions.length,
      ...(asset === null ? { ':null': 'NULL' } : { ':asset': asset }),
    },
  };
  const set = setAttributesIf(condition, { result, ...(salt && { result_salt: salt }) });
  const update = { ...set, Key: placeOf(computation.domain, run.id).key };
  transaction.add({ update, otherwise: StaleReadError });
  const ofRun = { status: 'success', lifecycle: false, run_id: run.id, cvm_id: run.cvm_id } as const;
  const added = events.map((event) => ({ ...event, ...ofRun }));
  const event_hash = await enterResult(table, transaction, computation, { ...run, result }, { events: added, now });
  if (salt) addLogEntry(transaction, { type: 'result', domain: computation.domain, run, salt, event_hash }, now);
}

/** Adds the note that an asset is the result of a run, by which the purge of a deleted computation finds the asset. */
export function noteResultAsset(transaction: Transaction, run: Run, assetId: string): void {
  transaction.add({ put: { Item: { ...runKeys.resultAsset(run.computation_id, run.id, assetId), asset_id: assetId } } });
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

/** Returns a new salt of an entry of the stage's log. It hides the entry from readers of the log who do not get the evidence. */
const newSalt = (): Uint8Array => randomBytes(lengthOfSalt);

/** An event of a run that has an entry in the stage's log. */
interface LoggedEvent {
  type: LoggedAct;
  domain: string;
  run: Pick<Run, 'id' | 'computation_id'>;
  salt: Uint8Array;
  /** The hash of the event in the journal, hex. */
  event_hash: string;
}

/**
 * Adds an entry of the stage's log to the transaction of its event. It waits in the table until it is integrated into the log.
 * Costs two write units.
 */
function addLogEntry(transaction: Transaction, { salt, event_hash, ...of }: LoggedEvent, now: string): void {
  const tag = tagOf(of);
  const Item = { ...historyKeys.waiting(toHex(tag)), entry: logEntry({ tag, salt, event_hash }), waits_since: now };
  transaction.add({ put: { Item } });
}

/** Returns the tag under which the stage's log has an entry of a run, 32 bytes. */
export function tagOf({ type, domain, run }: Pick<LoggedEvent, 'type' | 'domain' | 'run'>): Uint8Array {
  return logTag({ type, domain, computation: run.computation_id, run: run.id });
}

const storedSalts = v.object({ start_salt: storedBytes, end_salt: storedBytes, result_salt: v.optional(storedBytes) });

/**
 * Parses the salts of a run that has ended: of its start, its end and, once it is released or withheld, its result.
 * @param item the row of the run
 */
export function saltsOf(item: Item | undefined): Record<LoggedAct, Uint8Array | undefined> {
  const { start_salt, end_salt, result_salt } = parseStored(storedSalts, item, 'row of an ended run');
  return { 'run-start': start_salt, 'run-end': end_salt, result: result_salt };
}
