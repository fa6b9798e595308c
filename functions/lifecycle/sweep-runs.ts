import * as v from 'valibot';
import { openExecutions } from '../../shared/runs/executions.ts';
import { sweepRuns } from '../../shared/runs/sweep-runs.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';

/** Callers have a minute to start the execution. The one-machine stack passes 0 at its start, when all executions are lost. */
const sweep = v.object({ grace_in_seconds: v.optional(v.number(), 60) });

export const handler = task('lifecycle/sweep-runs', sweep, async ({ grace_in_seconds }, { now, deadline }) => ({
  ended: await sweepRuns(openTable(deadline), openExecutions(deadline), now, grace_in_seconds),
}));
