import { executionEnded, executionStatusChange } from '../../shared/lifecycle/run-steps.ts';
import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('lifecycle/execution-ended', executionStatusChange, async (change, { now, deadline }) => {
  await executionEnded(openTable(deadline), openExecutions(deadline), change, now);
});
