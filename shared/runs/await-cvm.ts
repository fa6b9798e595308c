import type { Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { changeClaim, readClaim } from './claim.ts';
import { completeTask, failTaskAsOver, type Executions } from './executions.ts';
import type { WaitingStep } from './run-reference.ts';

/**
 * Stores the task token of the waiting step in the claim, so that the report with the outcome can complete the task. If the
 * claim already has an outcome, completes the task at once. If the run is over, fails the task with RunIsOver.
 */
export async function awaitCvm(table: Table, executions: Executions, { run, task_token }: WaitingStep): Promise<void> {
  const isWaiting = await withFreshReads(table, async (table) => {
    const claim = await readClaim(table, run);
    if (!claim) {
      await failTaskAsOver(executions, task_token);
      return false;
    }
    if (claim.outcome) {
      await completeTask(executions, task_token);
      return false;
    }
    const transaction = new Transaction();
    changeClaim(transaction, claim, { set: { run_token: task_token }, remove: ['offer_token'], unless: ['outcome'] });
    await transaction.commit(table);
    return true;
  });
  if (isWaiting && !(await readClaim(table, run))) await completeTask(executions, task_token); // the run ended meanwhile
}
