import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, type Listening } from '../listen.ts';
import { systemTimerClock, type TimerClock } from '../../shared/timer-clock.ts';
import { ApiError } from './api-error.ts';
import type { Definition } from './definition.ts';
import { type Operation, stepFunctionsOperations } from './operations.ts';
import { type ExecutionStatusChangeEvent, statusChangeEvent } from './status-change-event.ts';
import type { Invoke } from './task-handler.ts';

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
