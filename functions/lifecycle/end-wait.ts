import { openExecutions } from '../../shared/runs/executions.ts';
import { runReference } from '../../shared/runs/run-reference.ts';
import { settleStop } from '../../shared/runs/steps.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('lifecycle/end-wait', runReference, async (run, { now, deadline }) => {
  await settleStop(openTable(deadline), openExecutions(), run, now);
});
