import { finalStatuses, reasonCodes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import type { Run } from './run.ts';

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
