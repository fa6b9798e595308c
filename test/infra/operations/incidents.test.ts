import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nameIn } from '../../../infra/stages/stage.ts';
import { schedules } from '../../../shared/tasks/schedules.ts';
import { fullStage, synthesize } from '../../support/synthesized-stages.ts';

/**
 * Incidents as the alarms of a stage see them. Every incident is simulated at the edge of CloudWatch: its series are what AWS documents that
 * it writes. No alarm was evaluated by AWS itself.
 */
interface Stat {
  Metric: { Namespace: string; MetricName: string; Dimensions?: { Name: string; Value: unknown }[] };
}

interface Alarm {
  AlarmName: string;
  AlarmDescription: string;
  Namespace?: string;
  MetricName?: string;
  Dimensions?: { Name: string; Value: unknown }[];
  Metrics?: { Id: string; Expression?: string; MetricStat?: Stat; ReturnData?: boolean }[];
  Threshold: number;
  ComparisonOperator: string;
  EvaluationPeriods: number;
  DatapointsToAlarm?: number;
  TreatMissingData: string;
}

/** Values of consecutive periods by metric, such as `Invocations maintenance-purge`. The last one goes on. Undefined: no value. */
type Series = Record<string, readonly (number | undefined)[]>;

const [stage] = synthesize([fullStage]);
const alarms = Object.values(stage?.stacks.operations.ofType<Alarm>('AWS::CloudWatch::Alarm') ?? {});
const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
const prefix = nameIn(fullStage, '');
const named = ['FunctionName', 'endpoint', 'QueueName', 'PipeName', 'task'];

function keyOf({ MetricName, Dimensions = [] }: Stat['Metric']): string {
  const [of = ''] = Dimensions.filter(({ Name }) => named.includes(Name)).map(({ Value }) =>
    String(Value).replace(prefix, '').replace('/', '-'),
  );
  return `${MetricName} ${of}`.trim();
}

const healthy: Series = {
  ...Object.fromEntries(schedules.map(({ name }) => [`Invocations ${name.replace('/', '-')}`, [10]])),
  'Invocations canary': [2],
  'Invocations maintenance-follow-table': [5],
  'Invocations events': [5],
  ExecutionsStarted: [1],
  ConnectedCvms: [10],
  CertificateDays: [700],
  Count: [200],
  '4xx': [2],
};

function valueOf(alarm: Alarm, series: Series, period: number): number | undefined {
  const at = (metric: Stat['Metric']) => {
    const values = series[keyOf(metric)] ?? [];
    return values[Math.min(period, values.length - 1)];
  };
  const { Namespace = '', MetricName, Dimensions = [], Metrics = [] } = alarm;
  if (MetricName !== undefined) return at({ Namespace, MetricName, Dimensions });
  const values = Object.fromEntries(Metrics.flatMap(({ Id, MetricStat }) => (MetricStat ? [[Id, at(MetricStat.Metric)]] : [])));
  const { Expression } = Metrics.find((each) => each.Expression !== undefined) ?? {};
  if (Expression === undefined) return Object.values(values)[0];
  const code = Expression.replaceAll(/FILL\((\w+), 0\)/g, '($1 ?? 0)')
    .replaceAll(' AND ', ' && ')
    .replaceAll('IF(', 'when(');
  const when = (condition: boolean, yes: number, no: number) => (condition ? yes : no);
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- an expression of this repository's templates
  const compiled = new Function('when', ...Object.keys(values), `return ${code}`) as (...given: unknown[]) => unknown;
  const result = Number(compiled(when, ...Object.values(values)));
  return Number.isNaN(result) ? undefined : result;
}

function starts(alarm: Alarm, series: Series): boolean {
  const { EvaluationPeriods: all, DatapointsToAlarm: needed = all, Threshold, TreatMissingData, ComparisonOperator } = alarm;
  const over = Array.from({ length: all }, (_, period) => valueOf(alarm, series, period)).filter((value) => {
    if (value === undefined) return TreatMissingData === 'breaching';
    return ComparisonOperator.startsWith('Less') ? value < Threshold : value >= Threshold;
  });
  return over.length >= needed;
}

const startedBy = (changed: Series) =>
  alarms
    .filter((alarm) => starts(alarm, { ...healthy, ...changed }))
    .map(({ AlarmName }) => AlarmName.replace(prefix, ''))
    .sort();

it('starts no alarm in a stage that is healthy', () => {
  expect(startedBy({})).toEqual([]);
});

it.each<[string, Series, string[], string]>([
  ['the rule of the purge stays disabled', { 'Invocations maintenance-purge': [] }, ['purge-silent'], 'aws events enable-rule'],
  [
    'the permission of the sweep is removed',
    { 'Invocations lifecycle-sweep-runs': [] },
    ['sweep-silent'],
    'aws lambda get-policy',
  ],
  ['the fold may have no execution', { 'Invocations maintenance-fold-lists': [] }, ['fold-silent'], 'put-function-concurrency'],
  ['the collection throws', { 'Errors maintenance-collect-content': [1] }, ['maintenance-collect-content'], 'level = "ERROR"'],
  [
    'the stream is not read',
    { 'Invocations maintenance-follow-table': [] },
    ['table-stream-silent'],
    'update-event-source-mapping --enabled',
  ],
  ['the pipe is stopped', { 'Invocations events': [] }, ['events-silent'], 'aws pipes start-pipe'],
  ['the canary is not called', { 'Invocations canary': [] }, ['canary-silent'], 'rule of the schedule is disabled'],
  ['the issuer is down', { '4xx': [199], 'Errors canary': [1] }, ['callers-refused', 'canary-fails'], 'openid-configuration'],
  ['a key is disabled', { 'ApproximateNumberOfMessagesVisible key-changes': [1] }, ['key-changes'], 'aws kms enable-key'],
  ['content is deleted', { ContentMissing: [1] }, ['content-missing'], 'aws s3api delete-object'],
  ['the table is throttled', { WriteThrottleEvents: [9] }, ['table-throttles'], 'update-contributor-insights'],
  ['API Gateway may not call a function', { '5xx': [5] }, ['unanswered-requests'], 'status >= 500'],
  ['the role of the state machine is broken', { ExecutionsFailed: [1] }, ['run-lifecycle'], 'aws stepfunctions'],
  ['a bad version does not start', { '5xx': [100] }, ['api-failures', 'unanswered-requests'], 'deploy.md#rolling-back'],
  [
    'a function lacks a permission',
    { 'RequestsFailed runs-start-run': [4], RequestsFailed: [4], '5xx': [4] },
    ['runs-start-run'],
    'a-permission-is-missing',
  ],
])('tells that %s, under a heading with what to do', (_what, changed, expected, toDo) => {
  expect(startedBy(changed)).toEqual(expected);
  const sections = alarms
    .filter(({ AlarmName }) => expected.includes(AlarmName.replace(prefix, '')))
    .map(({ AlarmDescription }) => AlarmDescription.split('#')[1] ?? '')
    .map((heading) => runbook.split('\n## ').find((each) => each.toLowerCase().replaceAll(' ', '-').startsWith(`${heading}\n`)));
  expect(sections).toHaveLength(expected.length);
  expect(sections.join('\n')).toContain(toDo);
});

it.each<[string, Series]>([
  ['failures that functions counted in the period before', { '5xx': [4, 0], RequestsFailed: [0, 4] }],
  ['a run at the edge of a period', { 'Invocations maintenance-follow-table': [undefined, 5] }],
  ['one caller with a wrong token in a quiet stage', { Count: [10], '4xx': [10] }],
])('does not page for %s', (_what, changed) => {
  expect(startedBy(changed)).toEqual([]);
});
