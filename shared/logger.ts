import { environment } from './environment.ts';

const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'] as const;
type Level = Exclude<(typeof levels)[number], 'SILENT'>;

/** What every entry of the current invocation carries: request id, domain, computation, run. */
let context: Record<string, unknown> = {};

/** Begins an invocation's log. */
export function startLog(fields: Record<string, unknown>): void {
  context = fields;
}

/**
 * One line of JSON per entry, as CloudWatch Logs Insights reads it. Request bodies and `agent_config` never get here.
 * @param cause an error that belongs to the entry, with what caused it
 */
export function log(level: Level, message: string, fields: Record<string, unknown> = {}, cause?: unknown): void {
  const { LOG_LEVEL, STAGE } = environment();
  if (levels.indexOf(level) < levels.findIndex((known) => known === LOG_LEVEL)) return;
  const error = cause instanceof Error ? { error: describe(cause) } : {};
  writeLine({ level, message, timestamp: new Date().toISOString(), stage: STAGE, ...context, ...fields, ...error });
}

const mostErrorsInEntry = 20;

/** An error, what caused it, and the parts of an aggregate with their causes. At most 20 errors in all: causes can be circular. */
function describe(thrown: unknown, budget = { left: mostErrorsInEntry }): unknown {
  if (!(thrown instanceof Error)) return String(thrown);
  budget.left--;
  const { name, message, stack, cause } = thrown;
  const { code, method, status, $metadata } = thrown as ErrorDetails;
  const more = (each: unknown) => (budget.left > 0 ? [describe(each, budget)] : []);
  const [describedCause] = cause === undefined ? [] : more(cause);
  const parts = thrown instanceof AggregateError ? { errors: thrown.errors.flatMap(more) } : {};
  return {
    name,
    message,
    code,
    method,
    status: status ?? $metadata?.httpStatusCode,
    stack,
    ...parts,
    cause: describedCause,
  };
}

/** What errors of Node, of the SDK and of storage requests carry beside their message; what is undefined is not written. */
interface ErrorDetails {
  code?: string | number;
  method?: string;
  status?: number;
  $metadata?: { httpStatusCode?: number };
}

/** Standard output is the log of a function. */
export function writeLine(entry: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}
