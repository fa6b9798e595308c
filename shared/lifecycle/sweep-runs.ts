import type { ExecutionStatus } from '@aws-sdk/client-sfn';
import * as v from 'valibot';
import { failureOf } from '../runtime/errors.ts';
import { emitWaiting } from '../runtime/log.ts';
import { sweepKeys } from '../table/keys.ts';
import { type Table, getItem, getItems, type Item } from '../table/table.ts';
import { writeFresh } from '../table/transaction.ts';
import { putItem } from '../table/writes.ts';
import { readClaims, type Claim, changeClaim, readClaim, type CvmOfClaim } from '../rows/claim.ts';
import { completeStop, endRun } from './run-steps.ts';
import { completeWaitingTasks, executionStatus, startExecution, type Executions } from './executions.ts';
import { parseStored } from '../table/stored.ts';
import { findRun, runKey, waysToEnd } from '../rows/run.ts';

/**
 * The largest number of calls of DescribeExecution in one sweep. AWS allows 250 at once, and refills 10 a second in most regions.
 */
const callsPerSweep = 200;

/** The largest number of calls of DescribeExecution for one run: two if the run is being stopped. */
const mostCallsPerClaim = 2;

/**
 * The share of a sweep's calls that is for suspects: active runs for which no step waits, or whose outcome is recorded. The rest
 * is for the other runs, so that neither group delays the other.
 */
const shareForSuspects = 0.75;

/** The number of active runs that a sweep reads with one call: the most that BatchGetItem takes. */
const claimsPerRead = 100;

/** The limits of a sweep, which looks for active runs that nothing takes to their end, and what it does with them. */
interface SweepLimits {
  /** The age in seconds below which a sweep skips a run, because its execution may be starting. */
  graceInSeconds: number;
  /** The largest number of calls of DescribeExecution that a sweep makes. Default: 200. */
  mostCalls?: number | undefined;
  /** True if the sweep resumes runs without an execution, as after a restart or restore. Default: the sweep ends them. */
  resumes?: boolean | undefined;
}

/**
 * Ends the active runs that no execution in Step Functions takes to their end. Looks first at suspects (runs for which no step
 * waits, or whose outcome is recorded), then at the others in turn, then at further suspects, as long as calls of Step Functions
 * are left. The next sweep continues where this one ended.
 * @returns the number of runs that were ended
 * @throws AggregateError with all failures, after every run was processed
 */
export async function sweepRuns(
  table: Table,
  executions: Executions,
  now: string,
  { graceInSeconds, mostCalls = callsPerSweep, resumes = false }: SweepLimits,
): Promise<number> {
  const failures: unknown[] = [];
  const before = new Date(Date.parse(now) - graceInSeconds * 1000).toISOString();
  const read = await readClaims(table, (error) => failures.push(error));
  const claims = read.filter((claim) => !(claim.claimed_at > before));
  const mayBeCut = claims.length * mostCallsPerClaim > mostCalls;
  const state = mayBeCut ? await readSweepState(table) : {};
  const suspects = inTurn(claims.filter(isSuspect), state.suspect);
  const others = inTurn(
    claims.filter((claim) => !isSuspect(claim)),
    state.other,
  );
  let [ended, calls] = [0, 0];
  const statusOf: StatusOf = (...execution) => {
    calls += 1;
    return executionStatus(executions, ...execution);
  };
  /**
   * Looks at active runs, each by the claim of its CVM, until the sweep has made the given number of calls. Returns the claims
   * that were looked at.
   */
  const look = async (some: Claim[], untilCalls: number): Promise<Claim[]> => {
    let seen = 0;
    while (seen < some.length && calls < untilCalls) {
      const next = some.slice(seen, seen + Math.min(claimsPerRead, untilCalls - calls));
      const keys = next.map(({ domain, run_id }) => runKey(domain, run_id));
      const rows = await getItems(table, keys);
      for (const [index, claim] of next.entries()) {
        if (calls >= untilCalls) break;
        seen += 1;
        try {
          if (await endIfOrphaned(table, executions, { claim, runItem: rows[index], resumes, statusOf }, now)) ended += 1;
        } catch (error) {
          failures.push(failureOf(`run ${claim.run_id} of the domain ${claim.domain}`, error));
        }
      }
    }
    return some.slice(0, seen);
  };
  const first = await look(suspects, Math.ceil(mostCalls * shareForSuspects));
  const seenOthers = await look(others, mostCalls);
  const seenSuspects = [...first, ...(await look(suspects.slice(first.length), mostCalls))];
  const unseen = claims.length - seenSuspects.length - seenOthers.length;
  if (unseen > 0) {
    emitWaiting('lifecycle/sweep-runs', unseen);
    await writeSweepState(table, { suspect: seenSuspects.at(-1) ?? state.suspect, other: seenOthers.at(-1) ?? state.other });
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} runs could not be swept.`);
  return ended;
}

/**
 * Tells whether the execution of an active run may be missing: no step waits for the run, or nobody has passed its outcome on.
 */
function isSuspect({ offer_token, run_token, outcome }: Claim): boolean {
  return (offer_token === undefined && run_token === undefined) || outcome !== undefined;
}

type StatusOf = (kind: 'run' | 'stop', runId: string, resumed: number) => ReturnType<typeof executionStatus>;

/** An active run that a sweep looks at. `claim` is the item that says that the run holds its CVM. */
interface Looked {
  claim: Claim;
  runItem: Item | undefined;
  resumes: boolean;
  statusOf: StatusOf;
}

/**
 * Ends or resumes a run if its execution is over or missing, and passes on an outcome or a stop that got lost.
 * @returns whether this call ended the run
 */
async function endIfOrphaned(
  table: Table,
  executions: Executions,
  { claim, runItem, resumes, statusOf }: Looked,
  now: string,
): Promise<boolean> {
  let resumed = claim.resumed ?? 0;
  const status = await statusOf('run', claim.run_id, resumed);
  if (status === 'RUNNING' || status === 'PENDING_REDRIVE') {
    // It continues by itself, unless whoever recorded the outcome died before it could pass that on.
    if (claim.outcome) await completeWaitingTasks(executions, claim);
  } else if (resumes && !claim.outcome && findRun(runItem, claim.run_id)) {
    resumed = await resumeRun(table, executions, claim, status);
  } else {
    const { executionEnded, executionGone } = waysToEnd.sweepRuns;
    const ended = status === undefined ? { way: executionGone } : { way: executionEnded, detail: status };
    return await endRun(table, claim, ended, now);
  }
  if (findRun(runItem, claim.run_id)?.status !== 'stopping') return false;
  const stop = await statusOf('stop', claim.run_id, resumed);
  if (stop === undefined) await startExecution(executions, 'stop', claim, resumed);
  else if (stop !== 'RUNNING') await completeStop(table, executions, claim, now);
  return false;
}

/**
 * Starts a new execution for a run. Its first step offers the run again, or passes on if the CVM has accepted the run. The time
 * limits start again. Safe to repeat.
 * @param status of the execution before; undefined if there was none. The name of an execution that has ended stays taken.
 * @returns how often the run was resumed under another name
 */
export async function resumeRun(
  table: Table,
  executions: Executions,
  claim: Claim,
  status: ExecutionStatus | undefined,
): Promise<number> {
  const resumed = status === undefined ? (claim.resumed ?? 0) : await takeNextName(table, claim);
  await startExecution(executions, 'run', claim, resumed);
  return resumed;
}

/** Counts another execution of a run, so that the sweep finds the execution by its name. @returns the count */
async function takeNextName(table: Table, { resumed: before = 0, ...run }: Claim): Promise<number> {
  return await writeFresh(table, async (table, transaction) => {
    const claim = await readClaim(table, run);
    if (!claim || (claim.resumed ?? 0) > before) return claim?.resumed ?? before;
    changeClaim(transaction, claim, { set: { resumed: before + 1 } });
    return before + 1;
  });
}

const cvm = v.optional(v.object({ domain: v.string(), cvm_id: v.string() }));
const storedState = v.object({ suspect: cvm, other: cvm });

/**
 * The point where the last sweep of active runs ended: in each group, suspects and others, the CVM whose run the sweep looked at
 * last.
 */
type SweepState = v.InferInput<typeof storedState>;

/** Reads where the last sweep of runs ended. */
export async function readSweepState(table: Table): Promise<SweepState> {
  const item = await getItem(table, sweepKeys.state);
  return item ? parseStored(storedState, item, 'state of the sweep') : {};
}

/** Records where a sweep of runs ended, so that the next sweep continues there. */
export async function writeSweepState(table: Table, { suspect, other }: SweepState): Promise<void> {
  await putItem(table, { ...sweepKeys.state, ...v.parse(storedState, { suspect, other }) });
}

/** Sorts the claims of active runs by domain and CVM, beginning after the CVM that a sweep looked at last. */
export function inTurn<T extends CvmOfClaim>(claims: T[], last: CvmOfClaim | undefined): T[] {
  const sorted = claims.toSorted((a, b) => Number(isAfter(a, b)) - Number(isAfter(b, a)));
  if (!last) return sorted;
  const start = sorted.findIndex((claim) => isAfter(claim, last));
  return start < 0 ? sorted : [...sorted.slice(start), ...sorted.slice(0, start)];
}

function isAfter(a: CvmOfClaim, b: CvmOfClaim): boolean {
  return a.domain === b.domain ? a.cvm_id > b.cvm_id : a.domain > b.domain;
}
