import * as v from 'valibot';
import { log } from '../logger.ts';
import type { Table } from '../table/table.ts';
import { readClaim } from './claim.ts';
import { completeStop } from './complete-stop.ts';
import { endRun } from './end-run.ts';
import { executionName, type Executions } from './executions.ts';
import { runReference } from './run-reference.ts';

const input = v.object({ ...runReference.entries, action: v.picklist(['run', 'stop']) });

/** The fields of EventBridge's `Step Functions Execution Status Change` that are read here. */
export const executionStatusChange = v.object({
  detail: v.object({ name: v.string(), status: v.string(), input: v.pipe(v.string(), v.parseJson(), input) }),
});
export type ExecutionStatusChange = v.InferOutput<typeof executionStatusChange>;

/**
 * Handles an execution that ended without recording an outcome: it was aborted, timed out or failed. The end of an execution that
 * the run had before it was resumed changes nothing.
 */
export async function executionEnded(
  table: Table,
  executions: Executions,
  change: ExecutionStatusChange,
  now: string,
): Promise<void> {
  const {
    name,
    status,
    input: { action, ...run },
  } = change.detail;
  const claim = await readClaim(table, run);
  if (claim && name !== executionName(action, run.run_id, claim.resumed)) {
    log('INFO', 'The run continues in another execution.', { execution: name });
    return;
  }
  if (action === 'stop') await completeStop(table, executions, run, now);
  else await endRun(table, run, { status: 'failed', reason: `The execution of the run ended as ${status}.` }, now);
}
