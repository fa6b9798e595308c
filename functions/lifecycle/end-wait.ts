import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { runReference } from '../../shared/lifecycle/run-reference.ts';
import { settleStop } from '../../shared/lifecycle/steps.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('lifecycle/end-wait', runReference, async (run, now) => {
  await settleStop(openTable(), openExecutions(), run, now);
});
