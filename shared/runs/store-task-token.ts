import type { Table } from '../table/table.ts';
import { withFreshReads } from '../table/fresh-reads.ts';
import { Transaction } from '../table/transaction.ts';
import { readClaim, type ReadClaim } from './claim.ts';
import { completeTask, failTaskAsOver, type Executions } from './executions.ts';
import type { WaitingStep } from './run-reference.ts';

/**
 * Stores the task token of a waiting step in the claim, in the transaction to which `add` adds the change. If the claim already
 * has an outcome, completes the task at once. If the run is over, fails the task with RunIsOver.
 * @param add must change the claim only while it has no outcome
 */
export async function storeTaskToken(
  table: Table,
  executions: Executions,
  { run, task_token }: WaitingStep,
  add: (transaction: Transaction, claim: ReadClaim) => void,
): Promise<void> {
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
    add(transaction, claim);
    await transaction.commit(table);
    return true;
  });
  if (isWaiting && !(await readClaim(table, run))) await completeTask(executions, task_token); // the run has ended since
}
