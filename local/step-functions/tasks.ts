import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import { randomUUID } from 'node:crypto';
import type { TimerClock } from '../../shared/runtime/deadline.ts';

/** A state machine in the Amazon States Language (JSONPath), as the CDK deploys it. */
export interface Definition {
  StartAt: string;
  States: Record<string, { Type: string; [field: string]: unknown }>;
}

type TaskState = Definition['States'][string];

/** The input of a local task handler: the task's own input, its token and its time limits in seconds (0: none). */
export interface TaskInput {
  given: unknown;
  token: string;
  timeoutSeconds: number;
  heartbeatSeconds: number;
}

/**
 * The longest time limit that the interpreter of state machines can have, in seconds (24 days). The interpreter uses timers of
 * Node.
 */
const longestLimitInSeconds = 2_147_483;

/**
 * Adapts the definition of a state machine to the interpreter. The interpreter passes to a local handler only the task's input,
 * so the input carries the token and the limits (see TaskInput). The interpreter has no heartbeats and measures limits in real
 * time, so every limit is removed: `runTask` applies the limits by the stack's clock. A task without a limit would end after a
 * minute, so each task gets the longest limit.
 */
export function interpretable(definition: Definition): StateMachineDefinition {
  const states = Object.entries(definition.States).map(
    ([name, state]) => [name, state.Type === 'Task' ? interpretableTask(state) : state] as const,
  );
  return { ...definition, States: Object.fromEntries(states) } as unknown as StateMachineDefinition;
}

function interpretableTask(state: TaskState): TaskState {
  const { Parameters, TimeoutSeconds = 0, HeartbeatSeconds = 0, ...kept } = state;
  const limits = { timeoutSeconds: TimeoutSeconds, heartbeatSeconds: HeartbeatSeconds };
  const task = { given: Parameters, 'token.$': '$$.Task.Token', ...limits };
  return { ...kept, Parameters: task, TimeoutSeconds: longestLimitInSeconds };
}

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
 * task's token back. The interpreter finds the retrier and the catcher of an error: those of the state machine name each lapse of a
 * limit, or `States.ALL`.
 */
export function runTask(state: TaskState, input: TaskInput, services: TaskServices): Promise<unknown> {
  const { tokens, clock, executionOver } = services;
  return new Promise((resolve, reject) => {
    const timer = (seconds: number, error: string) =>
      seconds > 0 ? clock.setTimer(seconds * 1_000, () => fail(error, '')) : undefined;
    const expectHeartbeat = () => timer(input.heartbeatSeconds, 'States.HeartbeatTimeout');
    const cancelTimeout = timer(input.timeoutSeconds, 'States.Timeout');
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
    const waits = String(state['Resource']).endsWith('.waitForTaskToken');
    if (waits) tokens.open(input.token, { succeed, fail, heartbeat });
    invokeFunction(input.given, services.invoke).then(
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

async function invokeFunction(given: unknown, invoke: Invoke): Promise<unknown> {
  const { FunctionName, Payload } = given as { FunctionName: string; Payload: unknown };
  return {
    ExecutedVersion: '$LATEST',
    Payload: asPayload((await invoke(FunctionName, asPayload(Payload))) ?? null),
    StatusCode: 200,
  };
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

export type TaskTokens = ReturnType<typeof createTaskTokens>;

/** Creates the task tokens of one server's lifetime, and keeps the tasks that wait until their tokens are sent back. */
export function createTaskTokens() {
  const server = randomUUID();
  const waiting = new Map<string, WaitingTask>();
  let issued = 0;
  return {
    issue: () => Buffer.from(JSON.stringify({ server, number: ++issued })).toString('base64url'),
    open: (token: string, task: WaitingTask) => void waiting.set(token, task),
    close: (token: string) => void waiting.delete(token),
    /**
     * Returns the task that waits with a token. @throws ApiError InvalidToken, TaskTimedOut (the task is over) or TaskDoesNotExist
     * (the token is of an earlier server)
     */
    waiting: (token: unknown): WaitingTask => {
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

/** An error response of the Step Functions API, which the SDK of AWS turns into an exception of the same name. */
export class ApiError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}
