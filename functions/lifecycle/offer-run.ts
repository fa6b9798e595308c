import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { waitingStep } from '../../shared/lifecycle/state-machine.ts';
import { offerRun } from '../../shared/lifecycle/run-steps.ts';
import { environment } from '../../shared/runtime/environment.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('lifecycle/offer-run', waitingStep, async (waiting, { now, deadline }) => {
  const acceptInSeconds = environment().ACCEPT_TIMEOUT_SECONDS;
  await offerRun(openTable(deadline), openExecutions(deadline), waiting, { now, acceptInSeconds });
});
