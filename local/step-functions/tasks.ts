import type { TaskInput, TaskState } from './definition.ts';
import { randomUUID } from 'node:crypto';
import type { TimerClock } from '../../shared/runtime/deadline.ts';

/** Runs a Lambda function to its end. An error that the function throws keeps its name. */
export type Invoke = (functionName: string, payload: unknown) => Promise<unknown>;

export interface TaskServices {
  invoke: Invoke;
  tokens: TaskTokens;
  /** The clock that measures the time limits of tasks. */
  clock: TimerClock;
  /** A signal that is aborted when the execution is over, even while one of its tasks is running. */
  executionOver: AbortSignal;
}

const largestPayloadInBytes = 256 * 1024;

/**
 * Runs a task of an execution as AWS does: calls the function and, if the task's resource says so, waits until somebody sends the
 * task's token back.
 */
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

/** Extracts the name of a Lambda function from its name or ARN. */
function functionName(nameOrArn: string): string {
  return nameOrArn.split(':function:').at(-1) ?? nameOrArn;
}

/**
 * Passes a value through JSON, as happens between two states of an execution. @throws Error with the name
 * States.DataLimitExceeded if the JSON is larger than 256 KiB
 */
function asPayload(value: unknown): unknown {
  const json = JSON.stringify(value);
  if (Buffer.byteLength(json) <= largestPayloadInBytes) return JSON.parse(json);
  throw taskError('States.DataLimitExceeded', 'The payload is larger than 262,144 bytes.');
}

/**
 * Returns the name of the error of a task that has missed its heartbeat: `States.HeartbeatTimeout` or `States.Timeout`, whichever
 * the state's retriers and catchers name first. AWS matches the error by either name.
 */
function heartbeatErrorName(state: TaskState): string {
  const named = [...(state.Retry ?? []), ...(state.Catch ?? [])].flatMap((matcher) => matcher.ErrorEquals);
  return named.find((name) => name === 'States.HeartbeatTimeout' || name === 'States.Timeout') ?? 'States.HeartbeatTimeout';
}

/**
 * Returns the error of a task that exceeded its time limit. On AWS, `States.TaskFailed` does not match the error; in the
 * interpreter, it matches every error of a handler. So no retrier or catcher takes the error unless one names it. A retrier or
 * catcher that names `States.Timeout` must come before one for `States.TaskFailed`.
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

/** Returns an error that ends the interpretation of an execution, because no retrier and no catcher takes it. */
function executionOverError(): Error {
  return Object.assign(new Error('The execution is over.'), { isRetryable: false, isCatchable: false });
}

/** A task of an execution that waits until somebody sends its token back. */
export interface WaitingTask {
  succeed: (output: unknown) => void;
  fail: (error: string, cause: string) => void;
  heartbeat: () => void;
}

export interface TaskTokens {
  issue: () => string;
  open: (token: string, task: WaitingTask) => void;
  close: (token: string) => void;
  /**
   * Returns the task that waits with a token. @throws ApiError InvalidToken, TaskTimedOut (the task is over) or TaskDoesNotExist
   * (the token is of an earlier server)
   */
  waiting: (token: unknown) => WaitingTask;
}

/** Creates the task tokens of one server's lifetime, and keeps the tasks that wait until their tokens are sent back. */
export function createTaskTokens(): TaskTokens {
  const server = randomUUID();
  const waiting = new Map<string, WaitingTask>();
  let issued = 0;
  return {
    issue: () => Buffer.from(JSON.stringify({ server, number: ++issued })).toString('base64url'),
    open: (token, task) => waiting.set(token, task),
    close: (token) => waiting.delete(token),
    waiting: (token) => {
      const task = waiting.get(String(token));
      if (task) return task;
      if (issuer(token) === server) throw new ApiError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");
      throw new ApiError('TaskDoesNotExist', "Task does not exist: 'Provided task does not exist'");
    },
  };
}

function issuer(token: unknown): unknown {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(String(token), 'base64url').toString());
    if (typeof parsed === 'object' && parsed !== null && 'server' in parsed) return parsed.server;
  } catch {
    // Not one of our tokens: refused below.
  }
  throw new ApiError('InvalidToken', "Invalid Token: 'Invalid token'");
}

/** The names of the Step Functions API's errors that the local server answers with. */
export type ApiErrorName =
  | 'ExecutionAlreadyExists'
  | 'ExecutionDoesNotExist'
  | 'InvalidExecutionInput'
  | 'InvalidName'
  | 'InvalidOutput'
  | 'InvalidToken'
  | 'StateMachineDoesNotExist'
  | 'TaskDoesNotExist'
  | 'TaskTimedOut'
  | 'UnknownOperationException';

/** An error response of the Step Functions API, which the SDK of AWS turns into an exception of the same name. */
export class ApiError extends Error {
  override readonly name: ApiErrorName;

  constructor(name: ApiErrorName, message: string) {
    super(message);
    this.name = name;
  }
}
