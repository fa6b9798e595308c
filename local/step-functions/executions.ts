import { ExecutionError, type RunOptions, type StateMachine } from 'aws-local-stepfunctions';
import { type Definition, type TaskInput, runTask, type TaskServices } from './tasks.ts';

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'ABORTED';

/** An execution of a state machine, running or ended. Its input and output are JSON texts, as in the API of Step Functions. */
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

/** The definition of the state machine of runs, and the objects that all of its executions on this machine share. */
export interface ExecutionServices extends Omit<TaskServices, 'executionOver'> {
  definition: Definition;
  /** The interpreter of the state machine's definition. */
  machine: StateMachine;
  onEnd: (execution: Execution) => void;
}

type Input = Parameters<StateMachine['run']>[0];
type Handlers = NonNullable<NonNullable<RunOptions['overrides']>['taskResourceLocalHandlers']>;

/**
 * Runs the definition of the state machine with an input, and updates the execution's record on the way.
 * @returns a function that ends the execution as ABORTED, without any Catch. The function does nothing once the execution has
 * ended
 */
export function startExecution(
  execution: Execution,
  input: unknown,
  { definition, machine, invoke, tokens, clock, onEnd }: ExecutionServices,
): (error?: string, cause?: string) => void {
  const over = new AbortController();
  const end = (outcome: Partial<Execution>) => {
    if (execution.status !== 'RUNNING') return;
    Object.assign(execution, outcome, { stopDate: new Date(clock.now()) });
    over.abort();
    onEnd(execution);
  };

  const task = { Token: tokens.issue() };
  const handlers = Object.entries(definition.States)
    .filter(([, state]) => state.Type === 'Task')
    .map(([name, state]) => {
      const handler = (input: unknown) => {
        task.Token = tokens.issue();
        return runTask(state, input as TaskInput, { invoke, tokens, clock, executionOver: over.signal });
      };
      return [name, handler] as const;
    });

  const run = machine.run(input as Input, {
    overrides: { taskResourceLocalHandlers: Object.fromEntries(handlers) as Handlers },
    context: {
      Execution: { Id: execution.executionArn, Name: execution.name },
      StateMachine: { Id: execution.stateMachineArn, Name: execution.stateMachineArn.split(':').at(-1) },
      Task: task,
    },
  });
  run.result.then(
    (output) => end({ status: 'SUCCEEDED', output: JSON.stringify(output) }),
    (error: unknown) => end(failure(error)),
  );

  return (error, cause) => {
    if (execution.status !== 'RUNNING') return;
    run.abort();
    end({ status: 'ABORTED', ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) });
  };
}

function failure(error: unknown): Partial<Execution> {
  const origin = error instanceof ExecutionError ? error.cause : error;
  if (!(origin instanceof Error)) return { status: 'FAILED', error: 'States.Runtime', cause: String(origin) };
  return { status: 'FAILED', error: origin.name, cause: origin.message };
}

/** The fields that the service reads in EventBridge's event about an execution. Times are Unix milliseconds. */
export type ExecutionStatusChangeEvent = ReturnType<typeof statusChangeEvent>;

/** Builds the event that EventBridge delivers when the status of an execution has changed. */
export function statusChangeEvent({ startDate, stopDate, ...execution }: Execution) {
  return {
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    detail: { ...execution, startDate: startDate.getTime(), stopDate: stopDate?.getTime() ?? null },
  };
}
