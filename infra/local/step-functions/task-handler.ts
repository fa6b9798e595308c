import type { TimerClock } from '../timer-clock.ts';
import type { TaskInput, TaskState } from './definition.ts';
import type { TaskTokens } from './task-tokens.ts';

/** Runs a Lambda function to its end; what it throws keeps its name. */
export type Invoke = (functionName: string, payload: unknown) => Promise<unknown>;

export interface TaskServices {
  invoke: Invoke;
  tokens: TaskTokens;
  /** Counts the limits of time. */
  clock: TimerClock;
  /** Aborted when the execution is over, whatever its tasks do. */
  executionOver: AbortSignal;
}

const largestPayloadInBytes = 256 * 1024;

/** Does what AWS does with a task: calls the function, and where the resource says so waits for the token to come back. */
export function runTask(state: TaskState, input: TaskInput, services: TaskServices): Promise<unknown> {
  const { tokens, clock, executionOver } = services;
  return new Promise((resolve, reject) => {
    const timer = (seconds: number, error: () => Error) =>
      seconds > 0 ? clock.setTimer(seconds * 1_000, () => end(() => reject(error()))) : undefined;
    const expectHeartbeat = () => timer(input.heartbeatSeconds, () => taskError(heartbeatErrorName(state), ''));
    const cancelTimeout = timer(input.timeoutSeconds, () => timeoutError(state));
    let cancelHeartbeat = expectHeartbeat();
    const over = () => end(() => reject(executionOverError()));
    const end = (settle: () => void) => {
      cancelTimeout?.();
      cancelHeartbeat?.();
      tokens.close(input.token);
      executionOver.removeEventListener('abort', over);
      settle();
    };
    const heartbeat = () => {
      cancelHeartbeat?.();
      cancelHeartbeat = expectHeartbeat();
    };
    const succeed = (output: unknown) => end(() => resolve(output));
    const fail = (error: string, cause: string) => end(() => reject(taskError(error, cause)));

    executionOver.addEventListener('abort', over);
    const waits = String(state.Resource).endsWith('.waitForTaskToken');
    if (waits) tokens.open(input.token, { succeed, fail, heartbeat });
    invokeFunction(state, input.given, services.invoke).then(
      (result) => {
        if (!waits) succeed(result);
      },
      (error: unknown) => {
        if (error instanceof Error) fail(error.name, lambdaErrorCause(error));
        else fail('Error', JSON.stringify({ errorType: 'Error', errorMessage: String(error), trace: [] }));
      },
    );
  });
}

async function invokeFunction(state: TaskState, given: unknown, invoke: Invoke): Promise<unknown> {
  const resource = String(state.Resource);
  if (!resource.startsWith('arn:aws:states:::lambda:invoke')) return await invoke(functionName(resource), asPayload(given));
  const { FunctionName, Payload } = given as { FunctionName?: unknown; Payload?: unknown };
  const result = await invoke(functionName(String(FunctionName)), asPayload(Payload ?? {}));
  return { ExecutedVersion: '$LATEST', Payload: asPayload(result ?? null), StatusCode: 200 };
}

/** A function's name out of its name or ARN. */
function functionName(nameOrArn: string): string {
  return nameOrArn.split(':function:').at(-1) ?? nameOrArn;
}

/** What is left of a value that goes through JSON between two states. */
function asPayload(value: unknown): unknown {
  const json = JSON.stringify(value);
  if (Buffer.byteLength(json) <= largestPayloadInBytes) return JSON.parse(json);
  throw taskError('States.DataLimitExceeded', 'The payload is larger than 262,144 bytes.');
}

/** AWS matches a lapsed heartbeat by both names, in the order of the state's own retriers and catchers. */
function heartbeatErrorName(state: TaskState): string {
  const named = [...(state.Retry ?? []), ...(state.Catch ?? [])].flatMap((matcher) => matcher.ErrorEquals);
  return named.find((name) => name === 'States.HeartbeatTimeout' || name === 'States.Timeout') ?? 'States.HeartbeatTimeout';
}

/**
 * The error of a task that took too long. AWS does not count it among `States.TaskFailed`; the interpreter does so for errors of
 * handlers. So no retrier and no catcher takes it where none names it. One that names `States.Timeout` must stand before one for
 * `States.TaskFailed`.
 */
function timeoutError(state: TaskState): Error {
  const isNamedIn = (matchers: { ErrorEquals: string[] }[] = []) =>
    matchers.some(({ ErrorEquals }) => ErrorEquals.includes('States.Timeout') || ErrorEquals.includes('States.ALL'));
  return Object.assign(taskError('States.Timeout', ''), {
    isRetryable: isNamedIn(state.Retry),
    isCatchable: isNamedIn(state.Catch),
  });
}

function taskError(name: string, cause: string): Error {
  return Object.assign(new Error(cause), { name });
}

function lambdaErrorCause(error: Error): string {
  if (error.name.startsWith('States.')) return error.message;
  return JSON.stringify({ errorType: error.name, errorMessage: error.message, trace: [] });
}

/** Ends an execution's interpretation for good: no retrier and no catcher takes it. */
function executionOverError(): Error {
  return Object.assign(new Error('The execution is over.'), { isRetryable: false, isCatchable: false });
}
