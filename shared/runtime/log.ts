import { AsyncLocalStorage } from 'node:async_hooks';
import { environment } from './environment.ts';

const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'] as const;
type Level = Exclude<(typeof levels)[number], 'SILENT'>;

/**
 * The fields that every log entry of an invocation has, for the invocation in progress. On one machine, many invocations are in
 * progress at once.
 */
const invocations = new AsyncLocalStorage<Record<string, unknown>>();

/** Does work. All log entries and metrics that it writes have the given fields. */
export function withLogFields<T>(fields: Record<string, unknown>, work: () => T): T {
  return invocations.run(fields, work);
}

function fieldsOfLog(): Record<string, unknown> {
  return invocations.getStore() ?? {};
}

/**
 * Writes an entry to the log of a function: one line of JSON, the format that CloudWatch Logs Insights reads. Never pass request
 * bodies or `agent_config`.
 * @param cause the error to log, with its chain of causes
 */
export function log(level: Level, message: string, fields: Record<string, unknown> = {}, cause?: unknown): void {
  const { LOG_LEVEL, STAGE } = environment();
  if (levels.indexOf(level) < levels.findIndex((known) => known === LOG_LEVEL)) return;
  const error = cause === undefined ? {} : { error: describe(cause) };
  writeLine({ level, message, timestamp: new Date().toISOString(), stage: STAGE, ...fieldsOfLog(), ...fields, ...error });
}

const maxErrorsPerEntry = 20;

/** Returns what the log says about an error and its causes: at most 20 errors in total, because causes can be circular. */
function describe(thrown: unknown, budget = { left: maxErrorsPerEntry }): unknown {
  if (!(thrown instanceof Error)) return String(thrown);
  budget.left--;
  const { name, message, stack, cause } = thrown;
  const { code, status, $metadata } = thrown as ErrorDetails;
  const more = (each: unknown) => (budget.left > 0 ? [describe(each, budget)] : []);
  const [describedCause] = cause === undefined ? [] : more(cause);
  const parts = thrown instanceof AggregateError ? { errors: thrown.errors.flatMap(more) } : {};
  return { name, message, code, status: status ?? $metadata?.httpStatusCode, stack, ...parts, cause: describedCause };
}

interface ErrorDetails {
  code?: string | number;
  status?: number;
  $metadata?: { httpStatusCode?: number };
}

/** Writes a line of JSON to standard output, which is the log of a function. */
export function writeLine(entry: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}

/** The metrics of the service, beside those of AWS, with their CloudWatch units. */
export const metricUnits = {
  RunsStarted: 'Count',
  /** The metric of runs that have ended. The dimension `outcome` is completed, failed or cancelled. */
  RunsEnded: 'Count',
  /** The metric of the time from the start of a run until its CVM accepts it. */
  TimeToAccept: 'Milliseconds',
  /**
   * The metric of the difference between the clock of a CVM that reports events and the service's clock, for the oldest event of
   * a batch.
   */
  ReportLag: 'Milliseconds',
  ConflictsRetried: 'Count',
  /**
   * The metric of members of a counted list that were found in another state than the one they changed from, when changes were
   * sorted into the list's index.
   */
  ListDrift: 'Count',
  /** The metric of changes of a counted list that are not sorted into its index yet. */
  ListBacklog: 'Count',
  /** The metric of CVMs whose agent is connected to a gateway. */
  ConnectedCvms: 'Count',
  /** The metric of CVMs of a gateway whose agent is connected, but no log-forwarder. */
  MissingForwarders: 'Count',
  /** The metric of CVMs of a gateway whose agent must be restarted before the next run. */
  SpentCvms: 'Count',
  /** The metric of the age of the oldest report of a gateway that the service has not taken. */
  OutboxAge: 'Milliseconds',
  /** The metric of second agents that came with the certificate of a CVM whose first agent still answered. */
  IdentityConflicts: 'Count',
  StreamsRefused: 'Count',
  /** The metric of the days until the certificate of a gateway expires. */
  CertificateDays: 'Count',
  /** The metric of the days until the first document with which attestations are verified runs out. */
  CollateralDays: 'Count',
  ReportsDropped: 'Count',
  /** The metric of uploads of assets that arrived and could not be read. */
  UploadsFailed: 'Count',
  /** The metric of stored content of assets that is gone although no request has deleted it. */
  ContentMissing: 'Count',
  /** The metric of the age of the oldest entry that waits to be integrated into the stage's log. */
  LogEntryAge: 'Milliseconds',
  /** The metric of parts of the log's head that were rebuilt from its tiles, because the table was older. */
  LogRebuilt: 'Count',
  /** The metric of heartbeats of runs that Step Functions refused, because the account sends too many. */
  HeartbeatsThrottled: 'Count',
  /** The metric of requests that were answered 429, by the service or API Gateway. The access log counts them. */
  RequestsThrottled: 'Count',
  /** The metric of requests with `wait` that were answered at once, because as many are held as the stage or the domain may hold. */
  WaitsRefused: 'Count',
  /** The metric of the amount of work that a scheduled task found, if any. The dimension `task` names the task. */
  Waiting: 'Count',
  /**
   * The metric of requests that were answered 500 or 503. Has the dimension `endpoint`; the sum of all endpoints is written
   * without it.
   */
  RequestsFailed: 'Count',
} as const;

export type MetricName = keyof typeof metricUnits;

/** The metrics that are also written as a sum over all values of their dimensions, without the dimensions. */
const summed = new Set<MetricName>(['RequestsFailed']);

/**
 * Writes the value of a metric to the log, in CloudWatch's embedded metric format, with the stage as a dimension. The line has
 * the fields of the log's entries too. Writes nothing if no namespace is configured.
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

/** The tasks that emit the metric `Waiting`. */
export const tasksWithWaiting = ['maintenance/purge', 'maintenance/collect-content', 'lifecycle/sweep-runs'] as const;

/** Writes how much a scheduled task found to do, as the metric `Waiting`. */
export function emitWaiting(task: (typeof tasksWithWaiting)[number], amount: number): void {
  emitMetric('Waiting', amount, { task });
}
