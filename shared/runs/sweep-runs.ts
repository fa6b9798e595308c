import { findRun, runKey } from './read-run.ts';
import { endRun } from './end-run.ts';
import { getItem, type Table } from '../table/table.ts';
import { readClaims, type Claim } from './claim.ts';
import { executionStatus, startExecution, type Executions } from './executions.ts';
import { completeStop } from './complete-stop.ts';

/**
 * Ends runs whose execution is gone: never started because its caller crashed, aborted by hand, lost with the machine. A stop
 * whose execution was never started is started. Claims younger than `graceInSeconds` may still be on their way.
 * @returns how many runs were ended
 * @throws AggregateError with what failed, when every claim has been looked at
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
