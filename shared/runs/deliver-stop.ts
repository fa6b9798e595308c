import type { Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { addCommand, removeCommand } from './change-commands.ts';
import { changeClaim, readClaim } from './claim.ts';
import { completeTask, failTaskAsOver, type Executions } from './executions.ts';
import type { WaitingStep } from './run-reference.ts';

/**
 * Adds the stop command for the CVM, withdraws an offer that the CVM has not accepted yet, and stores the task token in the
 * claim. If the claim already has an outcome, completes the task at once. If the run is over, fails the task with RunIsOver.
 * @param stopInSeconds the time that the CVM has to confirm the stop
 */
export async function deliverStop(
  table: Table,
  executions: Executions,
  { run, task_token }: WaitingStep,
  now: string,
  stopInSeconds: number,
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
    changeClaim(transaction, claim, { set: { stop_token: task_token }, unless: ['outcome'] });
    removeCommand(transaction, run, 'run');
    addCommand(transaction, run, { type: 'stop', id: claim.stop_command_id, now, lifetimeInSeconds: stopInSeconds });
    await transaction.commit(table);
    return true;
  });
  if (isWaiting && !(await readClaim(table, run))) await completeTask(executions, task_token); // the run ended meanwhile
}
