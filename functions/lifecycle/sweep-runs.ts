import * as v from 'valibot';
import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { sweepRuns } from '../../shared/lifecycle/sweep-runs.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

const sweep = v.object({
  /** Callers have a minute to start the execution. The one-machine stack passes 0 at its start, when all executions are lost. */
  grace_in_seconds: v.optional(v.number(), 60),
  /** See SweepLimits. A restore passes more. */
  most_calls: v.optional(v.number()),
  /** The one-machine stack and a restore resume runs without an execution. Otherwise they are ended. */
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
