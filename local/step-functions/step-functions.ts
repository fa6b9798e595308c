import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, type Listening } from '../machine/listen.ts';
import { systemTimerClock, type TimerClock } from '../../shared/runtime/timer-clock.ts';
import { ApiError, type Invoke, createTaskTokens } from './tasks.ts';
import { type Definition, interpretable } from './definition.ts';
import {
  type ExecutionStatusChangeEvent,
  statusChangeEvent,
  type Execution,
  type RunningExecution,
  startExecution,
} from './executions.ts';
import { randomUUID } from 'node:crypto';
import { StateMachine } from 'aws-local-stepfunctions';

export interface LocalStepFunctions {
  endpoint: string;
  stop: () => Promise<void>;
}

/**
 * Serves the Step Functions API (AWS JSON 1.0) on the loopback interface, for one state machine whose tasks call `invoke`.
 * Executions are in memory. `onStatusChange` receives the end of each, as a rule of EventBridge would.
 */
export async function startStepFunctions(options: {
  definition: Definition;
  stateMachineArn: string;
  invoke: Invoke;
  onStatusChange: (event: ExecutionStatusChangeEvent) => void;
  port?: number;
  /** Measures the limits of executions and tasks. Default: the system clock. */
  clock?: TimerClock;
}): Promise<LocalStepFunctions> {
  const { onStatusChange, port = 0, clock = systemTimerClock, ...machine } = options;
  const { operations, close } = stepFunctionsOperations({
    ...machine,
    clock,
    onEnd: (execution) => onStatusChange(statusChangeEvent(execution)),
  });
  const server: Listening = await listen(
    createServer((request, response) => void answer(request, response, operations)),
    port,
  );
  return {
    endpoint: server.endpoint,
    stop: async () => {
      close();
      await server.stop();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, operations: Record<string, Operation>): Promise<void> {
  try {
    const body = await text(request);
    const name = String(request.headers['x-amz-target']).replace('AWSStepFunctions.', '');
    const operation = operations[name];
    if (!operation) throw new ApiError('UnknownOperationException', `Unknown operation: ${name}`);
    send(response, 200, operation(parsed(body)));
  } catch (error) {
    if (error instanceof ApiError) send(response, 400, { __type: error.name, message: error.message });
    else send(response, 500, { __type: 'InternalFailure', message: String(error) });
  }
}

function parsed(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body || '{}') as Record<string, unknown>;
  } catch {
    throw new ApiError('SerializationException', 'The request body is not JSON.');
  }
}

function send(response: ServerResponse, status: number, body: Record<string, unknown>): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
}

type Request = Record<string, unknown>;
export type Operation = (request: Request) => Record<string, unknown>;

export interface StepFunctionsOptions {
  definition: Definition;
  stateMachineArn: string;
  invoke: Invoke;
  clock: TimerClock;
  /** Called once for each execution when it has ended. */
  onEnd: (execution: Execution) => void;
}

const forbiddenInNames = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]/;
const largestInputInBytes = 256 * 1024;

/**
 * The operations of the Step Functions API that the service and its operators use, on one state machine. The tests check that
 * the definition is valid Amazon States Language: that takes most of a second, which would delay each start.
 */
export function stepFunctionsOperations(options: StepFunctionsOptions) {
  const { definition, stateMachineArn, invoke, clock } = options;
  const now = () => new Date(clock.now());
  const machine = new StateMachine(interpretable(definition), { validationOptions: { noValidate: true } });
  const executions = new Map<string, RunningExecution>();
  const tokens = createTaskTokens();
  let closed = false;

  const find = (executionArn: unknown): RunningExecution => {
    const found = executions.get(String(executionArn));
    if (!found) throw new ApiError('ExecutionDoesNotExist', `Execution Does Not Exist: '${String(executionArn)}'`);
    return found;
  };

  const operations: Record<string, Operation> = {
    StartExecution: (request) => {
      if (request['stateMachineArn'] !== stateMachineArn) {
        throw new ApiError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${String(request['stateMachineArn'])}'`);
      }
      const name = executionName(request['name'] ?? randomUUID());
      const input = executionInput(request['input'] ?? '{}');
      const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
      const known = executions.get(executionArn)?.execution;
      if (known && (known.status !== 'RUNNING' || known.input !== input)) {
        throw new ApiError('ExecutionAlreadyExists', `Execution Already Exists: '${executionArn}'`);
      }
      if (known) return { executionArn, startDate: epochSeconds(known.startDate) };

      const execution: Execution = { executionArn, stateMachineArn, name, input, status: 'RUNNING', startDate: now() };
      const onEnd = (ended: Execution) => {
        if (!closed) options.onEnd(ended);
      };
      executions.set(executionArn, startExecution({ definition, machine, execution, invoke, tokens, clock, onEnd }));
      return { executionArn, startDate: epochSeconds(execution.startDate) };
    },

    StopExecution: (request) => {
      const { execution, abort } = find(request['executionArn']);
      abort(optionalText(request['error']), optionalText(request['cause']));
      return { stopDate: epochSeconds(execution.stopDate ?? now()) };
    },

    DescribeExecution: (request) => {
      const { startDate, stopDate, ...execution } = find(request['executionArn']).execution;
      return { ...execution, startDate: epochSeconds(startDate), ...(stopDate ? { stopDate: epochSeconds(stopDate) } : {}) };
    },

    SendTaskSuccess: (request) => {
      const output = taskOutput(request['output']);
      tokens.waiting(request['taskToken']).succeed(output);
      return {};
    },

    SendTaskFailure: (request) => {
      const { error, cause } = request;
      tokens.waiting(request['taskToken']).fail(optionalText(error) ?? '', optionalText(cause) ?? '');
      return {};
    },

    SendTaskHeartbeat: (request) => {
      tokens.waiting(request['taskToken']).heartbeat();
      return {};
    },
  };

  return {
    operations,
    /** Ends every execution without a call of `onEnd`. */
    close: () => {
      closed = true;
      for (const { abort } of executions.values()) abort();
    },
  };
}

function executionName(name: unknown): string {
  const text = String(name);
  if (text.length < 1 || text.length > 80 || forbiddenInNames.test(text))
    throw new ApiError('InvalidName', `Invalid Name: '${text}'`);
  return text;
}

function executionInput(input: unknown): string {
  const text = String(input);
  if (Buffer.byteLength(text) > largestInputInBytes) {
    throw new ApiError('InvalidExecutionInput', 'Invalid State Machine Execution Input: larger than 262,144 bytes');
  }
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new ApiError('InvalidExecutionInput', 'Invalid State Machine Execution Input: not JSON');
  }
}

function taskOutput(output: unknown): unknown {
  const text = String(output);
  if (Buffer.byteLength(text) > largestInputInBytes)
    throw new ApiError('InvalidOutput', 'Invalid Output: larger than 262,144 bytes');
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError('InvalidOutput', 'Invalid Output: not JSON');
  }
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function epochSeconds(date: Date): number {
  return date.getTime() / 1_000;
}
