import { nameIn, type Stage } from '../../infra/stages/stage.ts';
import { synthesize, type SynthesizedStage } from './synthesized-stages.ts';
import { schedules } from '../../shared/tasks/tasks.ts';

export interface Metric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: unknown }[];
}

/** An alarm as a template has it. */
export interface Alarm {
  AlarmName: string;
  AlarmDescription: string;
  Namespace?: string;
  MetricName?: string;
  Dimensions?: { Name: string; Value: unknown }[];
  Metrics?: { Id: string; Expression?: string; MetricStat?: { Metric: Metric }; ReturnData?: boolean }[];
  Threshold: number;
  ComparisonOperator: string;
  EvaluationPeriods: number;
  DatapointsToAlarm?: number;
  TreatMissingData: string;
}

/** Values of consecutive periods by metric, such as `Invocations maintenance-purge`. The last one goes on. Undefined: no value. */
export type Series = Record<string, readonly (number | undefined)[]>;

const named = ['FunctionName', 'endpoint', 'QueueName', 'PipeName', 'task', 'outcome'];

/** The alarms of a stage's template, and which of them would start. CloudWatch's rules are applied here: AWS evaluates none of them. */
export class AlarmsOfStage {
  readonly all: readonly Alarm[];
  readonly synthesized: SynthesizedStage;
  private readonly prefix: string;

  constructor(row: Stage) {
    const [synthesized] = synthesize([row]);
    if (!synthesized) throw new Error('Nothing was synthesized.');
    this.synthesized = synthesized;
    this.all = Object.values(synthesized.stacks.operations.ofType<Alarm>('AWS::CloudWatch::Alarm'));
    this.prefix = nameIn(row, '');
  }

  nameOf({ AlarmName }: Alarm): string {
    return AlarmName.replace(this.prefix, '');
  }

  /** Returns the alarms that start with these values, sorted by name. */
  startedBy(series: Series): Alarm[] {
    return this.all
      .filter((alarm) => this.starts(alarm, series))
      .sort((one, other) => (one.AlarmName < other.AlarmName ? -1 : 1));
  }

  /** The key of a metric in a series. */
  keyOf({ MetricName, Dimensions = [] }: Metric): string {
    const [of = ''] = Dimensions.filter(({ Name }) => named.includes(Name)).map(({ Value }) =>
      String(Value).replace(this.prefix, '').replace('/', '-'),
    );
    return `${MetricName} ${of}`.trim();
  }

  private starts(alarm: Alarm, series: Series): boolean {
    const { EvaluationPeriods: all, DatapointsToAlarm: needed = all, Threshold, TreatMissingData, ComparisonOperator } = alarm;
    const over = Array.from({ length: all }, (_, period) => this.valueOf(alarm, series, period)).filter((value) => {
      if (value === undefined) return TreatMissingData === 'breaching';
      return ComparisonOperator.startsWith('Less') ? value < Threshold : value >= Threshold;
    });
    return over.length >= needed;
  }

  private valueOf(alarm: Alarm, series: Series, period: number): number | undefined {
    const at = (metric: Metric) => {
      const values = series[this.keyOf(metric)] ?? [];
      return values[Math.min(period, values.length - 1)];
    };
    const values = Object.fromEntries(
      (alarm.Metrics ?? []).flatMap(({ Id, MetricStat }) => (MetricStat ? [[Id, at(MetricStat.Metric)]] : [])),
    );
    const { Expression } = (alarm.Metrics ?? []).find((each) => each.Expression !== undefined) ?? {};
    const [single] = metricsOf(alarm);
    if (Expression === undefined) return single && at(single);
    const code = Expression.replaceAll(/FILL\((\w+), 0\)/g, '($1 ?? 0)')
      .replaceAll(' AND ', ' && ')
      .replaceAll('IF(', 'when(');
    const when = (condition: boolean, yes: number, no: number) => (condition ? yes : no);
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- an expression of this repository's templates
    const compiled = new Function('when', ...Object.keys(values), `return ${code}`) as (...given: unknown[]) => unknown;
    const result = Number(compiled(when, ...Object.values(values)));
    return Number.isNaN(result) ? undefined : result;
  }
}

/** Returns the metrics that an alarm reads. */
export function metricsOf({ Namespace = '', MetricName, Dimensions = [], Metrics = [] }: Alarm): Metric[] {
  if (MetricName !== undefined) return [{ Namespace, MetricName, Dimensions }];
  return Metrics.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : []));
}

/** The metrics that a stage writes in which nothing is broken. */
export const healthy: Series = {
  ...Object.fromEntries(schedules.map(({ name }) => [`Invocations ${name.replace('/', '-')}`, [10]])),
  'Invocations canary': [2],
  'Invocations maintenance-follow-table': [5],
  'Invocations events': [5],
  ExecutionsStarted: [1],
  'RunsEnded completed': [4],
  'RunsEnded failed': [2],
  ConnectedCvms: [10],
  NumberOfCopyJobsCompleted: [3],
  CertificateDays: [700],
  CollateralDays: [29],
  DaysToExpiry: [300],
  Count: [200],
  '4xx': [2],
};
