import { appendEvents } from '../events/journal.ts';
import { dayOf } from '../lists/days.ts';
import { groupOfOwner, indexedLists, memberChange, stateOf } from '../lists/indexed-list.ts';
import type { MemberChange } from '../lists/log.ts';
import { recordChange } from '../lists/record-change.ts';
import type { Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import type { ComputationStatus, StoredComputation } from './computation.ts';
import type { ComputationToChange } from './computation-to-change.ts';
import { computationNumber } from './find-computation.ts';

/** The event that records each status. */
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

/** Adds the new status to the lists, the statistics and the journal. */
export async function recordEntry(
  table: Table,
  transaction: Transaction,
  { domain, row, head }: ComputationToChange,
  changes: MemberChange[],
  { originator, details, now }: Entry,
): Promise<void> {
  const list = indexedLists.computations(domain);
  const entered = { day: dayOf(Date.parse(now)), state: stateOf(list, row.status) };
  recordChange(transaction, list.index, { resource: computationNumber(row.id), version: row.version, changes, entered });
  const ofRun = row.run ? { run_id: row.run.id, cvm_id: row.run.cvm_id } : {};
  const event = { ...entryEvents[row.status], ...ofRun, originator, details, lifecycle: true } as const;
  const { actions } = await appendEvents(table, { domain, computationId: row.id }, head, [event], now);
  transaction.add(...actions);
}

/** Returns the change of a computation in the list of computations. */
export function memberOf(
  { domain, row: { id, owner } }: Pick<ComputationToChange, 'domain' | 'row'>,
  change: { before?: ComputationStatus; now?: ComputationStatus; groupBefore?: string },
): MemberChange {
  return memberChange(indexedLists.computations(domain), computationNumber(id), { ...change, group: groupOfOwner(owner) });
}

/** Adds changes of the lists that no status and no event goes with. */
export function recordMembers(
  transaction: Transaction,
  domain: string,
  { id, version }: StoredComputation,
  changes: MemberChange[],
): void {
  recordChange(transaction, indexedLists.computations(domain).index, { resource: computationNumber(id), version, changes });
}
