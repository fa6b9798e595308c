import { described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import { cvmId, idOfComputation, idOfRun, numberOf } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import { finalStatuses, reasonCodes, runStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { resultSchema } from './result.ts';
import { type RowKey, listKeys, lists } from '../table/keys.ts';
import { type Item, type Table, getItem, getItems } from '../table/table.ts';
import { parseStored } from '../table/stored.ts';

export const runStatus = described(
  v.picklist(runStatuses),
  'The status of the run. `running` and `stopping`: the run is active. The others are final.',
);

/** Returns whether a run with this status has not ended yet. */
export function isActive(status: string): boolean {
  return status === 'running' || status === 'stopping';
}

/** The longest reason for the end of a run, in characters. A CVM gives up to 1,000, and the service may add a sentence. */
export const longestReason = 1_200;

export const runSchema = namedObject('Run', 'A run of a computation on a CVM.', {
  id: idOfRun,
  computation_id: idOfComputation,
  cvm_id: described(cvmId, 'The CVM of the run.'),
  status: runStatus,
  started_at: described(timestamp, 'The start of the run.'),
  ended_at: orNull(timestamp, 'The end of the run. null while the run is active.'),
  started_by: shownText(255, 'The user who started the run.'),
  reason: orNull(shownText(longestReason), 'The reason for the end of the run. null while the run is active.'),
  reason_code: orNull(
    v.picklist(reasonCodes),
    'The kind of the end, for programs. `input_changed`: a fetched file is another than the approved one. Else null.',
  ),
  result: orNull(resultSchema, 'The result under review. null without a review.'),
  manifest_digest: shownText(64, 'The digest of the manifest that the run was started with.'),
  configuration_digest: shownText(64, 'The digest of the configuration that the run was started with.'),
});
export type Run = v.InferOutput<typeof runSchema>;

/**
 * Schema of the identifiers of a run, its computation, CVM and domain: the input of the run's execution. The steps of the
 * execution read everything else when they need it.
 */
export const runReference = v.object({ ...v.entriesFromList(['domain', 'computation_id', 'run_id', 'cvm_id'], v.string()) });
export type RunReference = v.InferOutput<typeof runReference>;

/** The identifiers of a run and its computation. */
export type OfRun = Pick<RunReference, 'computation_id' | 'run_id'>;

/** Returns the identifiers of a run, its computation, CVM and domain, for the functions that read everything else themselves. */
export function referenceTo(domain: string, { id, computation_id, cvm_id }: Run): RunReference {
  return { domain, computation_id, run_id: id, cvm_id };
}

/** Returns the key of a run's row. No row has the key of an identifier that this service cannot have issued. */
export function runKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.runs(domain), numberOf(id) ?? 0); // rows are numbered from 1
}

/** Parses the row of a run. Returns undefined if the row is missing or belongs to another run. */
export function findRun(item: Item | undefined, id: string): Run | undefined {
  return item?.['id'] === id ? parseStored(runSchema, item, 'run') : undefined;
}

/** Reads a run in one round trip. Returns undefined if there is no such run. */
export async function readRun(table: Table, domain: string, id: string): Promise<Run | undefined> {
  return findRun(await getItem(table, runKey(domain, id)), id);
}

/** Reads runs of a domain in one round trip, in the order of their identifiers. Leaves out those that do not exist. */
export async function readRuns(table: Table, domain: string, ids: readonly string[]): Promise<Run[]> {
  const keys = ids.map((id) => runKey(domain, id));
  const rows = await getItems(table, keys);
  return ids.flatMap((id, at) => findRun(rows[at], id) ?? []);
}

/** Schema of the end of a run: its final status and the reason, with the kind of the reason if programs can tell it apart. */
export const ending = v.object({
  status: v.picklist(finalStatuses),
  reason: v.string(),
  reason_code: v.optional(v.picklist(reasonCodes)),
  /** True if the CVM has confirmed that it stopped the run, false if it has not. Only cancelled runs have this field. */
  is_confirmed: v.optional(v.boolean()),
});
export type Ending = v.InferOutput<typeof ending>;

/** A way in which a run can end: the status that follows, and the reason. */
export interface WayToEnd {
  /**
   * The final status of a run that ends in this way, by the status of the run before. Without `running`, only a run whose stop
   * was requested can end so.
   */
  statuses: { running?: Ending['status']; stopping: Ending['status'] };
  /**
   * Returns the reason of the end that a run shows.
   * @param detail what is known of the cause, such as the CVM's own reason
   */
  reason: (detail: string) => string;
  is_confirmed?: boolean;
}

const completed = { running: 'completed', stopping: 'completed' } as const;
const failed = { running: 'failed', stopping: 'failed' } as const;
const cancelled = { running: 'cancelled', stopping: 'cancelled' } as const;
const cancelledByStop = { stopping: 'cancelled' } as const;
const failedUnlessStopping = { running: 'failed', stopping: 'cancelled' } as const;

/**
 * Returns a function that gives the reason of a run's end: the CVM's own reason if there is one, because it says more, otherwise
 * the given one of the service.
 */
const orOwn = (reason: string) => (own: string) => own || reason;
const withOwn = (reason: string) => (own: string) => (own ? `${reason}: ${own}` : `${reason}.`);

const executionEnded = {
  statuses: failedUnlessStopping,
  reason: (status) => `The execution of the run ended as ${status}.`,
} satisfies WayToEnd;

/**
 * All ways in which a run can end, by the function of the service that finds out about the end. Functions that end a run, or
 * store its outcome in the claim on the CVM, take the way from this table.
 */
export const waysToEnd = {
  recordReports: {
    'ConsumingResults/Ready': { statuses: completed, reason: orOwn('The CVM finished the run.') },
    'Complete/Completed': { statuses: completed, reason: orOwn('The CVM finished the run.') },
    'Failed/Failed': { statuses: failed, reason: orOwn('The CVM failed.') },
    'Stopped/Stopped': { statuses: cancelled, reason: orOwn('The CVM stopped without a request.'), is_confirmed: true },
    stopped: { statuses: cancelledByStop, reason: orOwn('Stopped; the CVM confirmed it.'), is_confirmed: true },
    runRejected: { statuses: failed, reason: withOwn('The CVM rejected the run') },
    stopRejected: { statuses: cancelledByStop, reason: withOwn('Stopped; the CVM rejected the stop'), is_confirmed: false },
  },
  offerRun: {
    stopped: { statuses: cancelledByStop, reason: () => 'Stopped before the run was offered to the CVM.', is_confirmed: true },
    assetDeleted: { statuses: failed, reason: (id) => `The asset ${id} was deleted while the run started.` },
  },
  completeStop: {
    unconfirmed: { statuses: cancelledByStop, reason: () => 'Stopped; no CVM confirmed it in time.', is_confirmed: false },
  },
  recordOutcome: {
    not_accepted: { statuses: failedUnlessStopping, reason: () => 'No CVM accepted the run in time.' },
    silence: { statuses: failedUnlessStopping, reason: () => 'The CVM fell silent.' },
    run_timeout: { statuses: failedUnlessStopping, reason: () => 'The run took longer than this stage allows.' },
    failure: { statuses: failedUnlessStopping, reason: () => 'A step of the lifecycle failed.' },
  } satisfies Record<EndedBy, WayToEnd>,
  failRun: { notAttested: { statuses: failed, reason: (failures) => failures } },
  executionEnded: { executionEnded },
  sweepRuns: {
    executionEnded,
    executionGone: {
      statuses: failedUnlessStopping,
      reason: () => 'The execution of the run is gone: it was never started, or got lost.',
    },
  },
  startRun: { notStarted: { statuses: failedUnlessStopping, reason: () => 'The run could not be started.' } },
} as const satisfies Record<string, Record<string, WayToEnd>>;

/** The events of an agent that end a run, as type and status. */
export const endingEvents = ['ConsumingResults/Ready', 'Complete/Completed', 'Failed/Failed', 'Stopped/Stopped'] as const;

/**
 * Returns how a run with this status ends. A stopped run ends as cancelled even if it fails, and then its reason names the
 * failure.
 */
export function endingOf({ statuses, reason, is_confirmed }: WayToEnd, status: Run['status'], detail = ''): Ending {
  const after = status === 'running' ? (statuses.running ?? statuses.stopping) : statuses.stopping;
  const text = reason(detail);
  if (after === 'cancelled' && is_confirmed === undefined) {
    return { status: after, reason: `Stopped; the CVM did not confirm it. ${text}`, is_confirmed: false };
  }
  return { status: after, reason: text, ...(is_confirmed === undefined ? {} : { is_confirmed }) };
}

/** All outcomes with which the state machine of a run ends the run by itself, such as a time limit that has passed. */
export const endings = ['not_accepted', 'silence', 'run_timeout', 'failure'] as const;

/** The outcome with which the state machine of a run ends the run by itself, such as a time limit that has passed. */
export type EndedBy = (typeof endings)[number];
