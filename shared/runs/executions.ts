import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidToken,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
  type ExecutionStatus,
} from '@aws-sdk/client-sfn';
import { clientLimits } from '../client-limits.ts';
import { environment } from '../environment.ts';
import { log } from '../logger.ts';
import { runOverErrorName } from './run-over.ts';
import type { RunReference } from './run-reference.ts';

/** Access to the state machine's executions and their waiting tasks. */
export interface Executions {
  client: SFNClient;
  stateMachineArn: string;
}

let opened: Executions | undefined;

export function openExecutions(): Executions {
  opened ??= { client: new SFNClient({ requestHandler: clientLimits }), stateMachineArn: environment().STATE_MACHINE_ARN };
  return opened;
}

export type ExecutionAction = 'run' | 'stop';

function executionName(action: ExecutionAction, runId: string): string {
  return `${action}-${runId}`;
}

/** Starts the execution of a run or of its stop. Its name contains the run's identifier, so this is safe to repeat. */
export async function startExecution(executions: Executions, action: ExecutionAction, run: RunReference): Promise<void> {
  try {
    await executions.client.send(
      new StartExecutionCommand({
        stateMachineArn: executions.stateMachineArn,
        name: executionName(action, run.run_id),
        input: JSON.stringify({ action, ...run }),
      }),
    );
  } catch (error) {
    if (!(error instanceof ExecutionAlreadyExists)) throw error;
  }
}

/** Returns the status of the execution of a run or of its stop; undefined if it was never started. Eventually consistent. */
export async function executionStatus(
  executions: Executions,
  action: ExecutionAction,
  runId: string,
): Promise<ExecutionStatus | undefined> {
  const executionArn = `${executions.stateMachineArn.replace(':stateMachine:', ':execution:')}:${executionName(action, runId)}`;
  try {
    const { status } = await executions.client.send(new DescribeExecutionCommand({ executionArn }));
    return status;
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
}

/** Completes a waiting task. @returns false if it no longer waits */
export function completeTask(executions: Executions, taskToken: string): Promise<boolean> {
  return sendIfWaiting(() => executions.client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' })));
}

/** Fails a waiting task because its run is over. The state machine catches this and continues; nothing counts as an error. */
export async function failTaskAsOver(executions: Executions, taskToken: string): Promise<void> {
  log('INFO', 'The run is over.');
  await sendIfWaiting(() => executions.client.send(new SendTaskFailureCommand({ taskToken, error: runOverErrorName })));
}

/** Sends the heartbeat of a waiting task. @returns false if it no longer waits */
export function sendHeartbeat(executions: Executions, taskToken: string): Promise<boolean> {
  return sendIfWaiting(() => executions.client.send(new SendTaskHeartbeatCommand({ taskToken })));
}

async function sendIfWaiting(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    if (error instanceof TaskTimedOut || error instanceof TaskDoesNotExist || error instanceof InvalidToken) return false;
    throw error;
  }
}
