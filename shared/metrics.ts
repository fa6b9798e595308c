import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { environment } from './environment.ts';

/** What an operator watches beside what AWS counts by itself, each with its unit. */
export const metricUnits = {
  RunsStarted: MetricUnit.Count,
  /** By the dimension `outcome`: completed, failed, cancelled. */
  RunsEnded: MetricUnit.Count,
  /** From the start of a run until its CVM accepts it. */
  TimeToAccept: MetricUnit.Milliseconds,
  /** From the reporter's clock to ours; the oldest event of a batch. */
  ReportLag: MetricUnit.Milliseconds,
  ConflictsRetried: MetricUnit.Count,
} as const;

export const metricNamespace = 'ComputationManagement';

let known: Metrics | undefined;

/** Writes one metric to the log in CloudWatch's embedded format, under the stage and the dimensions given. */
export function emitMetric(name: keyof typeof metricUnits, value: number, dimensions: Record<string, string> = {}): void {
  known ??= new Metrics({ namespace: metricNamespace, serviceName: 'computation-management' });
  const metric = known.singleMetric();
  metric.addDimensions({ stage: environment().STAGE, ...dimensions });
  metric.addMetric(name, metricUnits[name], value);
}
