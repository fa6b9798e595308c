import { runReference } from '../../shared/rows/run.ts';
import { completeStop } from '../../shared/lifecycle/run-steps.ts';
import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('lifecycle/complete-stop', runReference, async (run, { now, deadline }) => {
  await completeStop(openTable(deadline), openExecutions(deadline), run, now);
});
