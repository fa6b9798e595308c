import { CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import * as v from 'valibot';
import { nameIn, type Stage } from '../stages/stage.ts';
import { facts, mostMedianColdStartInMilliseconds } from './facts.ts';
import { notMeasured, percentile, type Finding } from './finding.ts';

/** The functions that an acceptance calls most. */
const called = ['computations/create-computation', 'computations/list-computations', 'computations/update-computation'];

const report = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ record: v.object({ metrics: v.object({ initDurationMs: v.number() }) }) }),
);

/** An emulator may ignore the pattern, so entries are looked at again. */
const conflict = v.pipe(v.string(), v.parseJson(), v.object({ ConflictsRetried: v.number() }));

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
    const durations = reports.flatMap((text) => {
      const parsed = v.safeParse(report, text);
      return parsed.success ? [parsed.output.record.metrics.initDurationMs] : [];
    });
    const [median = 0, worst = 0] = [percentile(durations, 0.5), Math.max(0, ...durations)].map(Math.round);
    const conflicts = (await entries('{ $.ConflictsRetried > 0 }')).filter((text) => v.is(conflict, text)).length;
    return [
      durations.length === 0
        ? notMeasured(facts.coldStarts, 'none was logged')
        : {
            ...facts.coldStarts,
            measured: `${durations.length}, median ${median} ms, worst ${worst} ms`,
            holds: median <= mostMedianColdStartInMilliseconds,
          },
      conflicts === 0
        ? notMeasured(facts.conflicts, 'none was logged')
        : { ...facts.conflicts, measured: `${conflicts} retried`, holds: true },
    ];
  } finally {
    client.destroy();
  }
}
