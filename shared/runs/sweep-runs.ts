import { findRun, runKey } from './read-run.ts';
import { endRun } from './end-run.ts';
import { getItem, type Table } from '../table/table.ts';
import { readClaims, type Claim } from './claim.ts';
import { executionStatus, startExecution, type Executions } from './executions.ts';
import { completeStop } from './complete-stop.ts';

/**
 * Ends runs without an execution: a crash prevented its start, somebody aborted it, or it was lost with the machine. Starts the
 * execution of a stop if it was never started. Skips claims younger than `graceInSeconds`, whose execution may be starting.
 * @returns the number of runs that were ended
 * @throws AggregateError with all failures, after every claim was processed
 */
export async function sweepRuns(table: Table, executions: Executions, now: string, graceInSeconds: number): Promise<number> {
  const before = new Date(Date.parse(now) - graceInSeconds * 1000).toISOString();
  let ended = 0;
  const failures: unknown[] = [];
  for (const claim of await readClaims(table)) {
    if (claim.claimed_at > before) continue;
    try {
      if (await endIfOrphaned(table, executions, claim, now)) ended += 1;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} runs could not be swept.`);
  return ended;
}

async function endIfOrphaned(table: Table, executions: Executions, claim: Claim, now: string): Promise<boolean> {
  const status = await executionStatus(executions, 'run', claim.run_id);
  if (status !== 'RUNNING' && status !== 'PENDING_REDRIVE') {
    const reason =
      status === undefined
        ? 'The execution of the run is gone: it was never started, or got lost.'
        : `The execution of the run ended as ${status}.`;
    await endRun(table, claim, { status: 'failed', reason }, now);
    return true;
  }
  const key = runKey(claim.domain, claim.run_id);
  const run = key && findRun(await getItem(table, key), claim.run_id);
  if (run?.status !== 'stopping') return false;
  const { domain, computation_id, run_id, cvm_id } = claim;
  const stop = await executionStatus(executions, 'stop', run_id);
  if (stop === undefined) await startExecution(executions, 'stop', { domain, computation_id, run_id, cvm_id });
  else if (stop !== 'RUNNING') await completeStop(table, executions, { domain, computation_id, run_id, cvm_id }, now);
  return false;
}
