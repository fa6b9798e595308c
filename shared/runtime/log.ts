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
export function fieldsOfLog(): Record<string, unknown> {
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
