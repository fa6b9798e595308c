import * as v from 'valibot';
import { RunIsOverError } from '../runs/run-is-over.ts';
import { timestampOf } from '../clock.ts';
import type { DeadlineSource } from '../deadline.ts';
import { clockOf, deadlineOf, type Invocation } from '../invocation.ts';
import { log, startLog } from '../logger.ts';

/** What a task's work is given beside its input. */
export interface TaskContext {
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** A fresh deadline for each operation, since a task may do many; for openTable. */
  deadline: DeadlineSource;
}

/**
 * Wraps the work of a function that AWS calls itself: a step of the state machine, a rule, a schedule. Its input is parsed; its
 * errors are logged and thrown, since the caller retries by their name. The input is not logged: it may hold a task token.
 */
export function task<S extends v.GenericSchema>(
  name: string,
  input: S,
  work: (input: v.InferOutput<S>, context: TaskContext) => Promise<unknown>,
) {
  return async (event: unknown, invocation?: Invocation): Promise<unknown> => {
    startLog({ task: name, request_id: invocation?.awsRequestId, ...runOf(event) });
    try {
      const context = { now: timestampOf(clockOf(invocation)), deadline: () => deadlineOf(invocation) };
      return (await work(v.parse(input, event), context)) ?? {};
    } catch (error) {
      if (error instanceof RunIsOverError) log('INFO', 'The run is over.');
      else log('ERROR', 'The task failed.', {}, error);
      throw error;
    }
  };
}

const run = v.object({ domain: v.string(), computation_id: v.string(), run_id: v.string() });
const aboutRun = v.union([
  run,
  v.pipe(
    v.object({ run }),
    v.transform((step) => step.run),
  ),
]);

/** Which run a step of the state machine is about. */
function runOf(event: unknown): Record<string, string> {
  const result = v.safeParse(aboutRun, event);
  return result.success ? result.output : {};
}
