import { AsyncLocalStorage } from 'node:async_hooks';
import { environment } from './environment.ts';

const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'] as const;
type Level = Exclude<(typeof levels)[number], 'SILENT'>;

/** On one machine, many invocations are in progress at once. */
const invocations = new AsyncLocalStorage<Record<string, unknown>>();

/** All entries of the work have these fields. */
export function withLogFields<T>(fields: Record<string, unknown>, work: () => T): T {
  return invocations.run(fields, work);
}

function fieldsOfLog(): Record<string, unknown> {
  return invocations.getStore() ?? {};
}

/**
 * One line of JSON, the format that CloudWatch Logs Insights reads. Never pass request bodies or `agent_config`.
 * @param cause the error to log, with its chain of causes
 */
export function log(level: Level, message: string, fields: Record<string, unknown> = {}, cause?: unknown): void {
  const { LOG_LEVEL, STAGE } = environment();
  if (levels.indexOf(level) < levels.findIndex((known) => known === LOG_LEVEL)) return;
  const error = cause === undefined ? {} : { error: describe(cause) };
  writeLine({ level, message, timestamp: new Date().toISOString(), stage: STAGE, ...fieldsOfLog(), ...fields, ...error });
}

const maxErrorsPerEntry = 20;

/** At most 20 errors in total, because causes can be circular. */
function describe(thrown: unknown, budget = { left: maxErrorsPerEntry }): unknown {
  if (!(thrown instanceof Error)) return String(thrown);
  budget.left--;
  const { name, message, stack, cause } = thrown;
  const { code, status, $metadata } = thrown as ErrorDetails;
  const more = (each: unknown) => (budget.left > 0 ? [describe(each, budget)] : []);
  const [describedCause] = cause === undefined ? [] : more(cause);
  const parts = thrown instanceof AggregateError ? { errors: thrown.errors.flatMap(more) } : {};
  return {
    name,
    message,
    code,
    status: status ?? $metadata?.httpStatusCode,
    stack,
    ...parts,
    cause: describedCause,
  };
}

interface ErrorDetails {
  code?: string | number;
  status?: number;
  $metadata?: { httpStatusCode?: number };
}

/** Standard output is the log of a function. */
export function writeLine(entry: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}

/** Beside those of AWS, with their CloudWatch units. */
export const metricUnits = {
  RunsStarted: 'Count',
  /** Dimension `outcome`: completed, failed or cancelled. */
  RunsEnded: 'Count',
  /** From the start of a run. */
  TimeToAccept: 'Milliseconds',
  /** Between the reporter's clock and the service's, for the oldest event of a batch. */
  ReportLag: 'Milliseconds',
  ConflictsRetried: 'Count',
  /** Members that a fold found in another state than they changed from. */
  ListDrift: 'Count',
  /** Changes of a list that are not folded. */
  ListBacklog: 'Count',
  /** Of a gateway: CVMs with an agent, without a log-forwarder, in need of a restart. */
  ConnectedCvms: 'Count',
  MissingForwarders: 'Count',
  SpentCvms: 'Count',
  /** The oldest report of a gateway that the service has not taken. */
  OutboxAge: 'Milliseconds',
  /** Second agents with the certificate of a CVM whose first one still answered. */
  IdentityConflicts: 'Count',
  StreamsRefused: 'Count',
  /** Of a gateway: the days until its certificate expires. */
  CertificateDays: 'Count',
  ReportsDropped: 'Count',
  /** Content that arrived and could not be read. */
  UploadsFailed: 'Count',
  /** No request has deleted it. */
  ContentMissing: 'Count',
  /** What a scheduled task found to do, if anything. Dimension `task`. */
  Waiting: 'Count',
  /** Answered 500 or 503. Dimension `endpoint`, and without it the sum. */
  RequestsFailed: 'Count',
} as const;

export type MetricName = keyof typeof metricUnits;

/** Also written without their dimensions. */
const summed = new Set<MetricName>(['RequestsFailed']);

/**
 * In CloudWatch's embedded metric format, with the stage as a dimension. The line has the fields of the log's entries too. Writes
 * nothing if no namespace is configured.
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

export const tasksWithWaiting = ['maintenance/purge', 'maintenance/collect-content'] as const;

/** Writes how much a scheduled task found to do. */
export function emitWaiting(task: (typeof tasksWithWaiting)[number], amount: number): void {
  emitMetric('Waiting', amount, { task });
}
