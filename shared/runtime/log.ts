import { AsyncLocalStorage } from 'node:async_hooks';
import { environment } from './environment.ts';

const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'] as const;
type Level = Exclude<(typeof levels)[number], 'SILENT'>;

/** The fields of every entry of an invocation. On one machine, many invocations are in progress at once. */
const invocations = new AsyncLocalStorage<Record<string, unknown>>();

/** Does the work of an invocation. All its entries have these fields, such as request id, domain, computation and run. */
export function withLogFields<T>(fields: Record<string, unknown>, work: () => T): T {
  return invocations.run(fields, work);
}

/** Returns these fields, for other lines that a query must find by them. */
function fieldsOfLog(): Record<string, unknown> {
  return invocations.getStore() ?? {};
}

/**
 * Writes an entry as one line of JSON, the format that CloudWatch Logs Insights reads. Never pass request bodies or
 * `agent_config`.
 * @param cause the error to log, with its chain of causes
 */
export function log(level: Level, message: string, fields: Record<string, unknown> = {}, cause?: unknown): void {
  const { LOG_LEVEL, STAGE } = environment();
  if (levels.indexOf(level) < levels.findIndex((known) => known === LOG_LEVEL)) return;
  const error = cause === undefined ? {} : { error: describe(cause) };
  writeLine({ level, message, timestamp: new Date().toISOString(), stage: STAGE, ...fieldsOfLog(), ...fields, ...error });
}

const maxErrorsPerEntry = 20;

/** Describes an error, its causes, and the errors of an aggregate. At most 20 errors in total, because causes can be circular. */
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

/** Fields of errors of Node and the SDK. Undefined fields are not written. */
interface ErrorDetails {
  code?: string | number;
  status?: number;
  $metadata?: { httpStatusCode?: number };
}

/** Writes one line to standard output, which is the log of a function. */
export function writeLine(entry: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}

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
  /** Content of an asset that is not in storage, although no request has deleted it. */
  ContentMissing: 'Count',
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
