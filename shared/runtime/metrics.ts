import { environment } from './environment.ts';
import { fieldsOfLog, writeLine } from './log.ts';

/** The service's own metrics, in addition to those of AWS, with their CloudWatch units. */
export const metricUnits = {
  RunsStarted: 'Count',
  /** Dimension `outcome`: completed, failed or cancelled. */
  RunsEnded: 'Count',
  /** Time from the start of a run until its CVM accepts it. */
  TimeToAccept: 'Milliseconds',
  /** Time from the reporter's clock to the service's clock, for the oldest event of a batch. */
  ReportLag: 'Milliseconds',
  ConflictsRetried: 'Count',
  /** Members of lists that a fold found in another state than the one that they changed from. */
  ListDrift: 'Count',
  /** Changes of a list that a change found before it, not folded. */
  ListBacklog: 'Count',
  /** Of a gateway: CVMs with an agent, those of them without a log-forwarder, and those that need a restart. */
  ConnectedCvms: 'Count',
  MissingForwarders: 'Count',
  SpentCvms: 'Count',
  /** Of a gateway: the age of the oldest report that the service has not taken. */
  OutboxAge: 'Milliseconds',
  /** Of a gateway: second agents that showed the certificate of a CVM whose first one still answered. */
  IdentityConflicts: 'Count',
  StreamsRefused: 'Count',
  /** Of a gateway: the days until its certificate expires. */
  CertificateDays: 'Count',
  ReportsDropped: 'Count',
  /** Content that arrived and could not be read. */
  UploadsFailed: 'Count',
  /** What a scheduled task found to do. Dimension `task`. Written only if there is something. */
  Waiting: 'Count',
  /** Requests that a function answered 500 or 503. Dimension `endpoint`, and without it the sum of all endpoints. */
  RequestsFailed: 'Count',
} as const;

export type MetricName = keyof typeof metricUnits;

/** Metrics that are written without their dimensions as well, as a sum of the stage. */
const summed = new Set<MetricName>(['RequestsFailed']);

/**
 * Writes a metric to the log in CloudWatch's embedded metric format, with the stage as a dimension. The line also has the fields of the
 * log's entries, such as the domain, so that a query of the log finds whose figures they are. Writes nothing if no namespace is
 * configured.
 */
export function emitMetric(name: MetricName, value: number, dimensions: Record<string, string> = {}): void {
  const { STAGE, METRICS_NAMESPACE } = environment();
  if (!METRICS_NAMESPACE) return;
  const all = { stage: STAGE, ...dimensions };
  const metric = {
    Namespace: METRICS_NAMESPACE,
    Dimensions: summed.has(name) ? [Object.keys(all), ['stage']] : [Object.keys(all)],
    Metrics: [{ Name: name, Unit: metricUnits[name] }],
  };
  writeLine({ _aws: { Timestamp: Date.now(), CloudWatchMetrics: [metric] }, ...fieldsOfLog(), ...all, [name]: value });
}

/** The tasks that write `Waiting`. */
export const tasksWithWaiting = ['maintenance/purge', 'maintenance/collect-content'] as const;

/** Writes how much a scheduled task found to do. */
export function emitWaiting(task: (typeof tasksWithWaiting)[number], amount: number): void {
  emitMetric('Waiting', amount, { task });
}
