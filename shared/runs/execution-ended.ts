import * as v from 'valibot';
import { endRun } from './end-run.ts';
import type { Table } from '../table/table.ts';
import type { Executions } from './executions.ts';
import { runReference } from './run-reference.ts';
import { completeStop } from './complete-stop.ts';

const input = v.object({ ...runReference.entries, action: v.picklist(['run', 'stop']) });

/** The fields of EventBridge's `Step Functions Execution Status Change` that are read here. */
export const executionStatusChange = v.object({
  detail: v.object({ status: v.string(), input: v.pipe(v.string(), v.parseJson(), input) }),
});
export type ExecutionStatusChange = v.InferOutput<typeof executionStatusChange>;

/** Handles an execution that ended without recording an outcome: it was aborted, timed out or failed. */
export async function executionEnded(
  table: Table,
  executions: Executions,
  change: ExecutionStatusChange,
  now: string,
): Promise<void> {
  const {
    status,
    input: { action, ...run },
  } = change.detail;
  if (action === 'stop') await completeStop(table, executions, run, now);
  else await endRun(table, run, { status: 'failed', reason: `The execution of the run ended as ${status}.` }, now);
}
