import { CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import * as v from 'valibot';
import { nameIn, type Stage } from '../stages.ts';
import { facts } from './facts.ts';
import { percentile, type Finding } from './finding.ts';

/** The functions that an acceptance calls most. */
const called = ['computations/create-computation', 'computations/list-computations', 'computations/update-computation'];

const report = v.object({ record: v.object({ metrics: v.object({ initDurationMs: v.number() }) }) });

/** Longer than the 300 ms of cost.md may be on a busy day. */
const longestColdStartInMilliseconds = 1_000;

/** Reads what the functions logged since a time: their cold starts, and the conflicts that they retried. Logs arrive within some seconds. */
export async function checkLogs(stage: Stage, since: number): Promise<Finding[]> {
  const client = new CloudWatchLogsClient({ region: stage.region });
  const entries = async (filterPattern: string): Promise<string[]> => {
    const found: string[] = [];
    for (const name of called) {
      const query = { logGroupName: `/aws/lambda/${nameIn(stage, name)}`, filterPattern, startTime: since };
      for await (const { events = [] } of paginateFilterLogEvents({ client }, query))
        found.push(...events.flatMap(({ message }) => message ?? []));
    }
    return found;
  };
  try {
    const reports = await entries('{ $.type = "platform.report" && $.record.metrics.initDurationMs > 0 }');
    const durations = reports.map((text) => v.parse(report, JSON.parse(text)).record.metrics.initDurationMs);
    const [median, worst] = [percentile(durations, 0.5), Math.max(0, ...durations)].map(Math.round);
    const conflicts = await entries('{ $.ConflictsRetried > 0 }');
    return [
      {
        ...facts.coldStarts,
        measured: durations.length === 0 ? 'none was logged' : `${durations.length}, median ${median} ms, worst ${worst} ms`,
        holds: durations.length > 0 && (median ?? 0) < longestColdStartInMilliseconds,
      },
      { ...facts.conflicts, measured: `${conflicts.length} retried`, holds: conflicts.length > 0 },
    ];
  } finally {
    client.destroy();
  }
}
