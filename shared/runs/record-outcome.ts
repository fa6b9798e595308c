import type { Table } from '../table/table.ts';
import { readClaim } from './claim.ts';
import { endRun } from './end-run.ts';
import { completeTask, type Executions } from './executions.ts';
import type { EndedBy, RunReference } from './run-reference.ts';

const reasons: Record<EndedBy, string> = {
  not_accepted: 'No CVM accepted the run in time.',
  silence: 'The CVM fell silent.',
  run_timeout: 'The run took longer than this stage allows.',
  failure: 'A step of the lifecycle failed.',
};

/** Ends a run with the outcome in its claim, or as failed by `endedBy`. Then completes the task of a stop that still waits. */
export async function recordOutcome(
  table: Table,
  executions: Executions,
  { run, endedBy = 'failure' }: { run: RunReference; endedBy?: EndedBy | undefined },
  now: string,
): Promise<void> {
  const claim = await readClaim(table, run);
  await endRun(table, run, { status: 'failed', reason: reasons[endedBy] }, now);
  if (claim?.stop_token !== undefined) await completeTask(executions, claim.stop_token);
}
