import type { Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { addCommand, removeCommand } from './change-commands.ts';
import { changeClaim, readClaim } from './claim.ts';
import { completeTask, failTaskAsOver, type Executions } from './executions.ts';
import type { WaitingStep } from './run-reference.ts';

/**
 * Tells the CVM to stop, takes back an offer that it has not accepted yet, and leaves the task token with the claim. If the
 * outcome is known, the task completes at once; if the run is over, it fails as RunIsOver.
 * @param stopInSeconds how long the CVM may take to confirm
 */
export async function deliverStop(
  table: Table,
  executions: Executions,
  { run, task_token }: WaitingStep,
  now: string,
  stopInSeconds: number,
): Promise<void> {
  await withFreshReads(table, async (table) => {
    const claim = await readClaim(table, run);
    if (!claim) return await failTaskAsOver(executions, task_token);
    if (claim.outcome) {
      await completeTask(executions, task_token);
      return;
    }
    const transaction = new Transaction();
    changeClaim(transaction, claim, { set: { stop_token: task_token }, unless: ['outcome'] });
    removeCommand(transaction, run, 'run');
    addCommand(transaction, run, { type: 'stop', id: claim.stop_command_id, now, lifetimeInSeconds: stopInSeconds });
    await transaction.commit(table);
  });
}
