import type { Table } from '../table/table.ts';
import { addCommand, removeCommand } from './change-commands.ts';
import { changeClaim } from './claim.ts';
import type { Executions } from './executions.ts';
import type { WaitingStep } from './run-reference.ts';
import { storeTaskToken } from './store-task-token.ts';

/**
 * Adds the stop command for the CVM, withdraws an offer that the CVM has not accepted yet, and waits for the CVM's answer.
 * @param stopInSeconds the time that the CVM has to confirm the stop
 */
export async function deliverStop(
  table: Table,
  executions: Executions,
  step: WaitingStep,
  { now, stopInSeconds }: { now: string; stopInSeconds: number },
): Promise<void> {
  const { run, task_token } = step;
  await storeTaskToken(table, executions, step, (transaction, claim) => {
    changeClaim(transaction, claim, { set: { stop_token: task_token }, unless: ['outcome'] });
    removeCommand(transaction, run, 'run');
    addCommand(transaction, run, { type: 'stop', id: claim.stop_command_id, now, lifetimeInSeconds: stopInSeconds });
  });
}
