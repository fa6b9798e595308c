import { randomUUID } from 'node:crypto';
import { StateMachine } from 'aws-local-stepfunctions';
import { Readable } from 'node:stream';
import { type HttpRequest, HttpResponse } from '@smithy/core/transport';
import { systemTimerClock, type TimerClock } from '../../shared/runtime/deadline.ts';
import { type Definition, interpretable, ApiError, createTaskTokens, type Invoke } from './tasks.ts';
import { type Execution, type ExecutionStatusChangeEvent, startExecution, statusChangeEvent } from './executions.ts';

export interface LocalStepFunctions {
  answer: Answer;
  /** Ends every execution without a call of `onStatusChange`. */
  stop: () => Promise<void>;
}

interface StepFunctionsOptions {
  definition: Definition;
  stateMachineArn: string;
  /** Calls the Lambda function of a task. */
  invoke: Invoke;
  /** Receives the end of each execution, as the target of an EventBridge rule would. */
  onStatusChange: (event: ExecutionStatusChangeEvent) => void;
  /** The clock that measures the time limits of executions and tasks. Default: the system clock. */
  clock?: TimerClock;
  /** The number of executions that are remembered after their end. Default: 10,000, which take some 7 MB. */
  mostEnded?: number;
}

type Request = Record<string, unknown>;
type Operation = (request: Request) => Record<string, unknown>;

const forbiddenInNames = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]/;
const largestInputInBytes = 256 * 1024;

/**
 * Answers the operations of the Step Functions API (AWS JSON 1.0) that the service and its operators use, for one state machine.
 * Executions are in memory, and those that ended long ago are forgotten.
 */
export function startStepFunctions(options: StepFunctionsOptions): LocalStepFunctions {
  const { definition, stateMachineArn, invoke, onStatusChange, clock = systemTimerClock, mostEnded = 10_000 } = options;
  const now = () => new Date(clock.now());
  // The definition is not checked here: the tests check it, which takes most of a second and would delay each start.
  const machine = new StateMachine(interpretable(definition), { validationOptions: { noValidate: true } });
  const executions = new Map<string, Execution>();
  const aborts = new Map<string, (error?: string, cause?: string) => void>();
  /** The ARNs of the ended executions, in the order of their ends. */
  const ended = new Set<string>();
  const tokens = createTaskTokens();
  let closed = false;

  const find = (executionArn: unknown): Execution => {
    const found = executions.get(String(executionArn));
    if (!found) throw new ApiError('ExecutionDoesNotExist', `Execution Does Not Exist: '${String(executionArn)}'`);
    return found;
  };
  const onEnd = (execution: Execution) => {
    const { executionArn } = execution;
    aborts.delete(executionArn);
    ended.add(executionArn);
    for (const oldest of ended) {
      if (ended.size <= mostEnded) break;
      ended.delete(oldest);
      executions.delete(oldest);
    }
    if (!closed) onStatusChange(statusChangeEvent(execution));
  };

  const operations: Record<string, Operation> = {
    StartExecution: (request) => {
      if (request['stateMachineArn'] !== stateMachineArn) {
        throw new ApiError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${String(request['stateMachineArn'])}'`);
      }
      const name = executionName(request['name'] ?? randomUUID());
      const input = optionalText(request['input']) ?? '{}';
      const value = jsonValue(input, 'InvalidExecutionInput');
      const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
      const known = executions.get(executionArn);
      if (known && (known.status !== 'RUNNING' || known.input !== input)) {
        throw new ApiError('ExecutionAlreadyExists', `Execution Already Exists: '${executionArn}'`);
      }
      if (known) return { executionArn, startDate: epochSeconds(known.startDate) };

      const execution: Execution = { executionArn, stateMachineArn, name, input, status: 'RUNNING', startDate: now() };
      executions.set(executionArn, execution);
      aborts.set(executionArn, startExecution(execution, value, { definition, machine, invoke, tokens, clock, onEnd }));
      return { executionArn, startDate: epochSeconds(execution.startDate) };
    },

    StopExecution: (request) => {
      const execution = find(request['executionArn']);
      aborts.get(execution.executionArn)?.(optionalText(request['error']), optionalText(request['cause']));
      return { stopDate: epochSeconds(execution.stopDate ?? now()) };
    },

    DescribeExecution: (request) => {
      const { startDate, stopDate, ...execution } = find(request['executionArn']);
      return { ...execution, startDate: epochSeconds(startDate), ...(stopDate ? { stopDate: epochSeconds(stopDate) } : {}) };
    },

    SendTaskSuccess: (request) => {
      const output = jsonValue(request['output'], 'InvalidOutput');
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
    stop: async () => {
      closed = true;
      for (const abort of aborts.values()) abort();
    },
    answer: async (target, body) => {
      try {
        const name = target.replace('AWSStepFunctions.', '');
        const operation = operations[name];
        if (!operation) throw new ApiError('UnknownOperationException', `Unknown operation: ${name}`);
        return { statusCode: 200, body: JSON.stringify(operation(JSON.parse(body) as Request)) };
      } catch (error) {
        const [statusCode, type] = error instanceof ApiError ? [400, error.name] : [500, 'InternalFailure'];
        const message = error instanceof Error ? error.message : String(error);
        return { statusCode, body: JSON.stringify({ __type: type, message }) };
      }
    },
  };
}

function executionName(name: unknown): string {
  const text = String(name);
  if (text.length >= 1 && text.length <= 80 && !forbiddenInNames.test(text)) return text;
  throw new ApiError('InvalidName', `Invalid Name: '${text}'`);
}

/** Returns the value of a JSON text of at most 256 KiB. @throws ApiError with the given name if the text is longer or not JSON */
function jsonValue(given: unknown, error: 'InvalidExecutionInput' | 'InvalidOutput'): unknown {
  const text = String(given);
  const what = error === 'InvalidOutput' ? 'Invalid Output' : 'Invalid State Machine Execution Input';
  if (Buffer.byteLength(text) > largestInputInBytes) throw new ApiError(error, `${what}: larger than 262,144 bytes`);
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(error, `${what}: not JSON`);
  }
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function epochSeconds(date: Date): number {
  return date.getTime() / 1_000;
}

/**
 * Answers a call of an API of AWS that takes and gives JSON. @param target the API and the operation, such as
 * `AWSStepFunctions.StartExecution`
 */
export type Answer = (target: string, body: string) => Promise<{ statusCode: number; body: string }>;

/** Makes a client of AWS call a part of this process in place of the network, so that no other program can call the part. */
export function callInProcess({ config }: { config: { requestHandler: unknown } }, answer: Answer): void {
  config.requestHandler = {
    handle: async ({ headers, body = '' }: Pick<HttpRequest, 'headers'> & { body?: string | Uint8Array }) => {
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body); // the SDK warns of Buffer.from
      const answered = await answer(headers['x-amz-target'] ?? '', text);
      const type = { 'content-type': 'application/x-amz-json-1.0' };
      return { response: new HttpResponse({ ...answered, headers: type, body: Readable.from([Buffer.from(answered.body)]) }) };
    },
    destroy: () => undefined,
    metadata: { handlerProtocol: 'http/1.1' },
  };
}
