import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { waitingStep } from '../../shared/lifecycle/state-machine.ts';
import { awaitCvm } from '../../shared/lifecycle/run-steps.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('lifecycle/await-cvm', waitingStep, async (waiting, { deadline }) => {
  await awaitCvm(openTable(deadline), openExecutions(deadline), waiting);
});
