import { getItems, type Item, type Table } from '../table/table.ts';
import { readClaims, type Claim } from './claim.ts';
import { completeStop } from './complete-stop.ts';
import { endRun } from './end-run.ts';
import { executionStatus, startExecution, type Executions } from './executions.ts';
import { findRun, runKey } from './read-run.ts';
import { resumeRun } from './resume-run.ts';
import { inTurn, readSweepState, writeSweepState } from './sweep-state.ts';

/** AWS allows 250 calls of DescribeExecution at once, and refills 10 a second in most regions: 600 a minute. */
const callsPerSweep = 200;

/** A claim takes one, or two if its run is being stopped. */
const mostCallsPerClaim = 2;

/** Of the calls. The others are for the claims that are no suspects, so that neither keeps the other waiting. */
const shareForSuspects = 0.75;

const claimsPerRead = 100;

interface SweepLimits {
  /** Skips younger claims, whose execution may be starting. */
  graceInSeconds: number;
  /** The calls of DescribeExecution. Default 200. */
  mostCalls?: number | undefined;
  /** Whether to resume runs without an execution, instead of ending them. Default false. */
  resumes?: boolean | undefined;
}

/**
 * Ends runs without an execution: a crash prevented its start, somebody aborted it, or it was lost with the machine. Starts the
 * execution of a stop if it was never started. Looks first at suspects: claims without a task token, whose execution may never
 * have started, and claims with an outcome, whose run should have ended. Then looks at the others in turn. The next sweep
 * continues where this one stopped. After a restart or a restore, runs are resumed instead.
 * @returns the number of runs that were ended
 * @throws AggregateError with all failures, after every claim was processed
 */
export async function sweepRuns(
  table: Table,
  executions: Executions,
  now: string,
  { graceInSeconds, mostCalls = callsPerSweep, resumes = false }: SweepLimits,
): Promise<number> {
  const before = new Date(Date.parse(now) - graceInSeconds * 1000).toISOString();
  const claims = (await readClaims(table)).filter((claim) => !(claim.claimed_at > before));
  const mayBeCut = claims.length * mostCallsPerClaim > mostCalls;
  const state = mayBeCut ? await readSweepState(table) : {};
  const suspects = inTurn(claims.filter(isSuspect), state.suspect);
  const others = inTurn(
    claims.filter((claim) => !isSuspect(claim)),
    state.other,
  );
  const forSuspects = Math.max(Math.floor(mostCalls * shareForSuspects), mostCalls - others.length);
  const chosen = [...suspects.slice(0, forSuspects), ...others].slice(0, mostCalls);

  let [ended, calls, seen] = [0, 0, 0];
  const failures: unknown[] = [];
  let items: (Item | undefined)[] = [];
  for (const claim of chosen) {
    if (calls >= mostCalls) break;
    if (seen % claimsPerRead === 0) items = await readRuns(table, chosen.slice(seen, seen + claimsPerRead));
    const runItem = items[seen % claimsPerRead];
    seen += 1;
    try {
      const looked = await endIfOrphaned(table, executions, { claim, runItem, resumes }, now);
      calls += looked.calls;
      if (looked.isEnded) ended += 1;
    } catch (error) {
      calls += 1;
      failures.push(error);
    }
  }
  const lastSeen = (isOne: (claim: Claim) => boolean) => chosen.slice(0, seen).findLast(isOne);
  if (seen < claims.length) {
    await writeSweepState(table, {
      suspect: lastSeen(isSuspect) ?? state.suspect,
      other: lastSeen((claim) => !isSuspect(claim)) ?? state.other,
    });
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} runs could not be swept.`);
  return ended;
}

function isSuspect({ offer_token, outcome }: Claim): boolean {
  return offer_token === undefined || outcome !== undefined;
}

/** Reads the rows of the claims' runs, in the same order. */
async function readRuns(table: Table, claims: Claim[]): Promise<(Item | undefined)[]> {
  const keys = claims.map(({ domain, run_id }) => runKey(domain, run_id));
  const items = await getItems(
    table,
    keys.filter((key) => key !== undefined),
  );
  return keys.map((key) => key && items.shift());
}

async function endIfOrphaned(
  table: Table,
  executions: Executions,
  { claim, runItem, resumes }: { claim: Claim; runItem: Item | undefined; resumes: boolean },
  now: string,
): Promise<{ calls: number; isEnded: boolean }> {
  let resumed = claim.resumed ?? 0;
  const status = await executionStatus(executions, 'run', claim.run_id, resumed);
  if (status === 'RUNNING' || status === 'PENDING_REDRIVE') {
    // It continues by itself.
  } else if (resumes && !claim.outcome && findRun(runItem, claim.run_id)) {
    resumed = await resumeRun(table, executions, claim, status);
  } else {
    const reason =
      status === undefined
        ? 'The execution of the run is gone: it was never started, or got lost.'
        : `The execution of the run ended as ${status}.`;
    await endRun(table, claim, { status: 'failed', reason }, now);
    return { calls: 1, isEnded: true };
  }
  if (findRun(runItem, claim.run_id)?.status !== 'stopping') return { calls: 1, isEnded: false };
  const { domain, computation_id, run_id, cvm_id } = claim;
  const stop = await executionStatus(executions, 'stop', run_id, resumed);
  if (stop === undefined) await startExecution(executions, 'stop', { domain, computation_id, run_id, cvm_id }, resumed);
  else if (stop !== 'RUNNING') await completeStop(table, executions, { domain, computation_id, run_id, cvm_id }, now);
  return { calls: 2, isEnded: false };
}
