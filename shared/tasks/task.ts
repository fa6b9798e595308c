import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { RunIsOverError } from '../runs/run-is-over.ts';
import { log, startLog } from '../logger.ts';

/**
 * Wraps the work of a function that AWS calls itself: a step of the state machine, a rule, a schedule. Its input is parsed; its
 * errors are logged and thrown, since the caller retries by their name. The input is not logged: it may hold a task token.
 */
export function task<S extends v.GenericSchema>(
  name: string,
  input: S,
  work: (input: v.InferOutput<S>, now: string) => Promise<unknown>,
) {
  return async (event: unknown, context?: Context): Promise<unknown> => {
    startLog({ task: name, request_id: context?.awsRequestId, ...runOf(event) });
    try {
      return (await work(v.parse(input, event), new Date().toISOString())) ?? {};
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
