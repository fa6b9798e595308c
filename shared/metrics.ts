import { environment } from './environment.ts';
import { writeLine } from './logger.ts';

/** What an operator watches beside what AWS counts by itself, each with its unit in CloudWatch's words. */
export const metricUnits = {
  RunsStarted: 'Count',
  /** By the dimension `outcome`: completed, failed, cancelled. */
  RunsEnded: 'Count',
  /** From the start of a run until its CVM accepts it. */
  TimeToAccept: 'Milliseconds',
  /** From the reporter's clock to ours; the oldest event of a batch. */
  ReportLag: 'Milliseconds',
  ConflictsRetried: 'Count',
} as const;

/**
 * Writes one metric to the log in CloudWatch's embedded metric format, under the stage and the dimensions given; nothing where
 * no namespace is configured.
 */
export function emitMetric(name: keyof typeof metricUnits, value: number, dimensions: Record<string, string> = {}): void {
  const { STAGE, METRICS_NAMESPACE } = environment();
  if (!METRICS_NAMESPACE) return;
  const all = { stage: STAGE, ...dimensions };
  const metric = {
    Namespace: METRICS_NAMESPACE,
    Dimensions: [Object.keys(all)],
    Metrics: [{ Name: name, Unit: metricUnits[name] }],
  };
  writeLine({ _aws: { Timestamp: Date.now(), CloudWatchMetrics: [metric] }, ...all, [name]: value });
}
