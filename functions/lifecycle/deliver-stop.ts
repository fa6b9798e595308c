import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { waitingStep } from '../../shared/lifecycle/state-machine.ts';
import { deliverStop } from '../../shared/lifecycle/run-steps.ts';
import { environment } from '../../shared/runtime/environment.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('lifecycle/deliver-stop', waitingStep, async (waiting, { now, deadline }) => {
  const stopInSeconds = environment().STOP_TIMEOUT_SECONDS;
  await deliverStop(openTable(deadline), openExecutions(deadline), waiting, { now, stopInSeconds });
});
