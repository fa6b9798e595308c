import * as v from 'valibot';
import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { sweepRuns } from '../../shared/lifecycle/sweep-runs.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

const sweep = v.object({
  /**
   * The seconds that the caller who started a run has to start its execution. The one-machine stack passes 0 at its start, when all
   * executions are lost. Default: 60.
   */
  grace_in_seconds: v.optional(v.number(), 60),
  /** The most calls of Step Functions that the sweep makes (`SweepLimits`). A restore passes more. */
  most_calls: v.optional(v.number()),
  /** True if runs without an execution get a new one, as on one machine and after a restore. Default: false, they are ended. */
  resumes: v.optional(v.boolean(), false),
});

export const handler = task(
  'lifecycle/sweep-runs',
  sweep,
  async ({ grace_in_seconds, most_calls, resumes }, { now, deadline }) => ({
    ended: await sweepRuns(openTable(deadline), openExecutions(deadline), now, {
      graceInSeconds: grace_in_seconds,
      mostCalls: most_calls,
      resumes,
    }),
  }),
);
