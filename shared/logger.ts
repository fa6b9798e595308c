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
 * @param cause an error whose name, message and stack belong to the entry
 */
export function log(level: Level, message: string, fields: Record<string, unknown> = {}, cause?: unknown): void {
  const { LOG_LEVEL, STAGE } = environment();
  if (levels.indexOf(level) < levels.findIndex((known) => known === LOG_LEVEL)) return;
  const error = cause instanceof Error ? { error: describe(cause) } : {};
  writeLine({ level, message, timestamp: new Date().toISOString(), stage: STAGE, ...context, ...fields, ...error });
}

function describe(cause: Error): Record<string, unknown> {
  const { name, message, stack } = cause;
  const parts = cause instanceof AggregateError ? { errors: cause.errors.map((part) => String(part)) } : {};
  return { name, message, stack, ...parts };
}

/** Standard output is the log of a function. */
export function writeLine(entry: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}
