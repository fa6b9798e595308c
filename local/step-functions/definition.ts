import type { StateMachineDefinition } from 'aws-local-stepfunctions';

/** A state machine in the Amazon States Language (JSONPath), as the CDK deploys it. */
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
 * time, so every limit is removed: `runTask` and `startExecution` apply the limits by the stack's clock. A task without a limit
 * would end after a minute, so each task gets the longest limit.
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
