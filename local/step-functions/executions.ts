import { ExecutionError, type RunOptions, type StateMachine } from 'aws-local-stepfunctions';
import type { TimerClock } from '../../shared/runtime/timer-clock.ts';
import type { Definition, TaskInput } from './definition.ts';
import { type Invoke, runTask, type TaskTokens } from './tasks.ts';
import { randomUUID } from 'node:crypto';
import type { EventBridgeEvent } from 'aws-lambda';

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/** One execution, running or ended. Input and output are JSON texts, as in the API. */
export interface Execution {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  status: ExecutionStatus;
  input: string;
  startDate: Date;
  stopDate?: Date;
  output?: string;
  error?: string;
  cause?: string;
}

export interface RunningExecution {
  execution: Execution;
  /** Ends the execution as ABORTED, without any Catch. Does nothing once it has ended. */
  abort: (error?: string, cause?: string) => void;
}

interface Start {
  definition: Definition;
  /** The interpreter of the definition. */
  machine: StateMachine;
  execution: Execution;
  invoke: Invoke;
  tokens: TaskTokens;
  clock: TimerClock;
  onEnd: (execution: Execution) => void;
}

type Input = Parameters<StateMachine['run']>[0];
type Handlers = NonNullable<NonNullable<RunOptions['overrides']>['taskResourceLocalHandlers']>;

/** Runs the definition, and updates the execution's record on the way. */
export function startExecution({ definition, machine, execution, invoke, tokens, clock, onEnd }: Start): RunningExecution {
  const over = new AbortController();
  const end = (outcome: Partial<Execution>) => {
    if (execution.status !== 'RUNNING') return;
    Object.assign(execution, outcome, { stopDate: new Date(clock.now()) });
    cancelLimit?.();
    over.abort();
    onEnd(execution);
  };

  let token = tokens.issue();
  const task = {
    get Token() {
      return token;
    },
  };
  const handlers = Object.entries(definition.States)
    .filter(([, state]) => state.Type === 'Task')
    .map(([name, state]) => {
      const handler = (input: unknown) => {
        token = tokens.issue();
        return runTask(state, input as TaskInput, { invoke, tokens, clock, executionOver: over.signal });
      };
      return [name, handler] as const;
    });

  const run = machine.run(JSON.parse(execution.input) as Input, {
    overrides: { taskResourceLocalHandlers: Object.fromEntries(handlers) as Handlers },
    context: {
      Execution: { Id: execution.executionArn, Name: execution.name },
      StateMachine: { Id: execution.stateMachineArn, Name: execution.stateMachineArn.split(':').at(-1) },
      Task: task,
    },
  });
  const { TimeoutSeconds } = definition;
  const cancelLimit =
    TimeoutSeconds === undefined
      ? undefined
      : clock.setTimer(TimeoutSeconds * 1_000, () => {
          end({ status: 'TIMED_OUT' });
          run.abort();
        });
  run.result.then(
    (output) => end({ status: 'SUCCEEDED', output: JSON.stringify(output) }),
    (error: unknown) => end(failure(error)),
  );

  return {
    execution,
    abort: (error, cause) => {
      if (execution.status !== 'RUNNING') return;
      run.abort();
      end({ status: 'ABORTED', ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) });
    },
  };
}

function failure(error: unknown): Partial<Execution> {
  const origin = error instanceof ExecutionError ? error.cause : error;
  if (!(origin instanceof Error)) return { status: 'FAILED', error: 'States.Runtime', cause: String(origin) };
  return { status: 'FAILED', error: origin.name, cause: origin.message };
}

/** The detail of EventBridge's event about an execution. Times are Unix milliseconds. */
export interface ExecutionStatusChange {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  status: Execution['status'];
  startDate: number;
  stopDate: number | null;
  input: string | null;
  output: string | null;
  error: string | null;
  cause: string | null;
}

export type ExecutionStatusChangeEvent = EventBridgeEvent<'Step Functions Execution Status Change', ExecutionStatusChange>;

/** Builds the event that EventBridge delivers when the status of an execution has changed. */
export function statusChangeEvent(execution: Execution): ExecutionStatusChangeEvent {
  const [, , , region = '', account = ''] = execution.stateMachineArn.split(':');
  const { stopDate, output, error, cause, startDate, ...kept } = execution;
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    account,
    time: (stopDate ?? startDate).toISOString(),
    region,
    resources: [execution.executionArn],
    detail: {
      ...kept,
      startDate: startDate.getTime(),
      stopDate: stopDate?.getTime() ?? null,
      output: output ?? null,
      error: error ?? null,
      cause: cause ?? null,
    },
  };
}
