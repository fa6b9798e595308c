import { recordOutcome } from '../../shared/lifecycle/run-steps.ts';
import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { endingRun } from '../../shared/lifecycle/state-machine.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('lifecycle/record-outcome', endingRun, async ({ ended_by, ...run }, { now, deadline }) => {
  await recordOutcome(openTable(deadline), openExecutions(deadline), { run, endedBy: ended_by }, now);
});
