import type { Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { changeClaim, readClaim } from './claim.ts';
import { completeTask, failTaskAsOver, type Executions } from './executions.ts';
import type { WaitingStep } from './run-reference.ts';

/**
 * Leaves the task token of the run's wait with the claim, for the report that brings the outcome. If the outcome came first, the
 * task completes at once; if the run is over, it fails as RunIsOver.
 */
export async function awaitCvm(table: Table, executions: Executions, { run, task_token }: WaitingStep): Promise<void> {
  await withFreshReads(table, async (table) => {
    const claim = await readClaim(table, run);
    if (!claim) return await failTaskAsOver(executions, task_token);
    if (claim.outcome) {
      await completeTask(executions, task_token);
      return;
    }
    const transaction = new Transaction();
    changeClaim(transaction, claim, { set: { run_token: task_token }, remove: ['offer_token'], unless: ['outcome'] });
    await transaction.commit(table);
  });
}
