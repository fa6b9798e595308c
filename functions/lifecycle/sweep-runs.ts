import * as v from 'valibot';
import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { sweepRuns } from '../../shared/lifecycle/sweep-runs.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

const sweep = v.object({
  /**
   * The age in seconds below which a run is skipped: callers have a minute to start its execution. A service on one machine
   * passes 0 at its start, when all executions are lost.
   */
  grace_in_seconds: v.optional(v.number(), 60),
  /** The largest number of calls of DescribeExecution in one sweep of runs: see SweepLimits. A restore passes more. */
  most_calls: v.optional(v.number()),
  /**
   * True if the sweep resumes runs that have no execution, as a service on one machine and a restore do. False if the sweep ends
   * them.
   */
  resumes: v.optional(v.boolean(), false),
});

export const handler = task('lifecycle/sweep-runs', sweep, async (given, { now, deadline }) => {
  const limits = { graceInSeconds: given.grace_in_seconds, mostCalls: given.most_calls, resumes: given.resumes };
  return { ended: await sweepRuns(openTable(deadline), openExecutions(deadline), now, limits) };
});
