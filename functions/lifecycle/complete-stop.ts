import { runReference } from '../../shared/computations/run.ts';
import { completeStop } from '../../shared/runs/end-run.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('lifecycle/complete-stop', runReference, async (run, { now, deadline }) => {
  await completeStop(openTable(deadline), openExecutions(deadline), run, now);
});
