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

/** The longest time that a Node timer keeps, in seconds (24 days); AWS allows three years. */
export const longestTimerSeconds = 2_147_483;

/**
 * The definition as the interpreter needs it: it hands a local handler nothing but the task's input, knows no heartbeat,
 * and ends a task without a time limit after a minute. So the input carries token and limits (see TaskInput), and every
 * task has a limit.
 */
export function interpretable(definition: Definition): StateMachineDefinition {
  const states = Object.entries(definition.States).map(
    ([name, state]) => [name, state.Type === 'Task' ? interpretableTask(state) : state] as const,
  );
  const limit = definition.TimeoutSeconds;
  return {
    ...definition,
    ...(limit === undefined ? {} : { TimeoutSeconds: Math.min(limit, longestTimerSeconds) }),
    States: Object.fromEntries(states),
  } as unknown as StateMachineDefinition;
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
    ...(TimeoutSecondsPath === undefined
      ? { TimeoutSeconds: Math.min(Number(TimeoutSeconds ?? longestTimerSeconds), longestTimerSeconds) }
      : { TimeoutSecondsPath: '$.timeoutSeconds' }),
  };
}

function limit(name: string, seconds: unknown, path: unknown): Record<string, unknown> {
  return path === undefined ? { [name]: seconds ?? 0 } : { [`${name}.$`]: path };
}
