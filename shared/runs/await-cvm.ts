import type { Table } from '../table/table.ts';
import { changeClaim } from './claim.ts';
import type { Executions } from './executions.ts';
import type { WaitingStep } from './run-reference.ts';
import { storeTaskToken } from './store-task-token.ts';

/** Waits for the CVM: the task token stays with the claim, so that the report with the outcome can complete the task. */
export async function awaitCvm(table: Table, executions: Executions, step: WaitingStep): Promise<void> {
  await storeTaskToken(table, executions, step, (transaction, claim) => {
    changeClaim(transaction, claim, { set: { run_token: step.task_token }, remove: ['offer_token'], unless: ['outcome'] });
  });
}
