import type { StateMachineDefinition } from 'aws-local-stepfunctions';

/** A state machine in the Amazon States Language (JSONPath), as CDK deploys it. */
export interface Definition {
  StartAt: string;
  TimeoutSeconds?: number;
  States: Record<string, { Type: string; [field: string]: unknown }>;
}

export interface TaskState {
  Type: string;
  Resource?: unknown;
  Parameters?: unknown;
  TimeoutSeconds?: unknown;
  TimeoutSecondsPath?: unknown;
  HeartbeatSeconds?: unknown;
  HeartbeatSecondsPath?: unknown;
  Retry?: { ErrorEquals: string[] }[];
  Catch?: { ErrorEquals: string[] }[];
  [field: string]: unknown;
}

/** What a local task handler is given: the task's own input, its token and its time limits in seconds (0: none). */
export interface TaskInput {
  given: unknown;
  token: string;
  timeoutSeconds: number;
  heartbeatSeconds: number;
}

/** The longest limit that the interpreter keeps, in seconds (24 days): it counts with a timer of Node. */
const longestLimitInSeconds = 2_147_483;

/**
 * The definition as the interpreter needs it. It hands a local handler nothing but the task's input, so the input carries token
 * and limits (see TaskInput). It knows no heartbeat and counts limits in real time, so every limit is taken out of it: `runTask`
 * and `startExecution` keep them by the stack's clock. A task without a limit would end after a minute, so each has the longest.
 * The intervals of a Retry and a Wait stay with the interpreter, in real time.
 */
export function interpretable(definition: Definition): StateMachineDefinition {
  const states = Object.entries(definition.States).map(
    ([name, state]) => [name, state.Type === 'Task' ? interpretableTask(state) : state] as const,
  );
  const { TimeoutSeconds: _, ...unlimited } = definition;
  return { ...unlimited, States: Object.fromEntries(states) } as unknown as StateMachineDefinition;
}

function interpretableTask(state: TaskState): TaskState {
  const { Parameters, TimeoutSeconds, TimeoutSecondsPath, HeartbeatSeconds, HeartbeatSecondsPath, ...kept } = state;
  return {
    ...kept,
    Parameters: {
      ...(Parameters === undefined ? { 'given.$': '$' } : { given: Parameters }),
      'token.$': '$$.Task.Token',
      ...limit('timeoutSeconds', TimeoutSeconds, TimeoutSecondsPath),
      ...limit('heartbeatSeconds', HeartbeatSeconds, HeartbeatSecondsPath),
    },
    TimeoutSeconds: longestLimitInSeconds,
  };
}

function limit(name: string, seconds: unknown, path: unknown): Record<string, unknown> {
  return path === undefined ? { [name]: seconds ?? 0 } : { [`${name}.$`]: path };
}
