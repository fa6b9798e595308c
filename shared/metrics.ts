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

export const metricNamespace = 'ComputationManagement';

/**
 * Writes one metric to the log in CloudWatch's embedded metric format, under the stage and the dimensions given; nothing where
 * only errors are logged.
 */
export function emitMetric(name: keyof typeof metricUnits, value: number, dimensions: Record<string, string> = {}): void {
  const { STAGE, LOG_LEVEL } = environment();
  if (LOG_LEVEL === 'SILENT' || LOG_LEVEL === 'ERROR') return;
  const all = { stage: STAGE, ...dimensions };
  const metric = {
    Namespace: metricNamespace,
    Dimensions: [Object.keys(all)],
    Metrics: [{ Name: name, Unit: metricUnits[name] }],
  };
  writeLine({ _aws: { Timestamp: Date.now(), CloudWatchMetrics: [metric] }, ...all, [name]: value });
}
