import * as v from 'valibot';
import { type DeadlineSource, clockOf, deadlineOfInvocation, type Invocation, timestampOf } from '../runtime/deadline.ts';
import { log, withLogFields } from '../runtime/log.ts';
import type { TaskName } from './tasks.ts';

/** The context of a call of a task. */
export interface TaskContext {
  now: string;
  /** Returns a new deadline for each operation of the task, a function that AWS calls. Pass the function to openTable. */
  deadline: DeadlineSource;
}

/**
 * Makes the handler of a task: a step of the state machine, or the target of a rule or a schedule. Logs errors and rethrows them,
 * because the caller decides by their name whether to retry. Never logs the input: it may contain a task token.
 */
export function task<S extends v.GenericSchema>(
  name: TaskName,
  input: S,
  work: (input: v.InferOutput<S>, context: TaskContext) => Promise<unknown>,
) {
  return (event: unknown, invocation?: Invocation): Promise<unknown> =>
    withLogFields({ task: name, request_id: invocation?.awsRequestId, ...runOf(event) }, async () => {
      try {
        const context = {
          now: timestampOf(clockOf(invocation)),
          deadline: () => deadlineOfInvocation(invocation),
        };
        return (await work(v.parse(input, event), context)) ?? {};
      } catch (error) {
        log('ERROR', 'The task failed.', {}, error);
        throw error;
      }
    });
}

const run = v.object({ domain: v.string(), computation_id: v.string(), run_id: v.string() });
const aboutRun = v.union([
  run,
  v.pipe(
    v.object({ run }),
    v.transform((step) => step.run),
  ),
]);

function runOf(event: unknown): Record<string, string> {
  const result = v.safeParse(aboutRun, event);
  return result.success ? result.output : {};
}
