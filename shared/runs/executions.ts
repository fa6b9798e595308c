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
import { runOverErrorName } from './run-over.ts';
import type { RunReference } from './run-reference.ts';

/** The state machine's executions and the tasks that wait in them. */
export interface Executions {
  client: SFNClient;
  stateMachineArn: string;
}

let known: Executions | undefined;

export function openExecutions(): Executions {
  known ??= { client: new SFNClient({ requestHandler: clientLimits }), stateMachineArn: environment().STATE_MACHINE_ARN };
  return known;
}

export type ExecutionAction = 'run' | 'stop';

function executionName(action: ExecutionAction, runId: string): string {
  return `${action}-${runId}`;
}

/** Starts the execution of a run or of its stop. Named after the run, so repeating it is harmless. */
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

/** The state of the execution of a run or of its stop; undefined where it was never started. Eventually consistent. */
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

/** Completes a task that waits. @returns whether it still waited */
export function completeTask(executions: Executions, taskToken: string): Promise<boolean> {
  return ifItWaits(() => executions.client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' })));
}

/** Fails a task that waits, because its run is over: the state machine goes on behind it, and nothing counts as an error. */
export async function failTaskAsOver(executions: Executions, taskToken: string): Promise<void> {
  await ifItWaits(() => executions.client.send(new SendTaskFailureCommand({ taskToken, error: runOverErrorName })));
}

/** Tells a task that its CVM lives. @returns whether it still waited */
export function sendHeartbeat(executions: Executions, taskToken: string): Promise<boolean> {
  return ifItWaits(() => executions.client.send(new SendTaskHeartbeatCommand({ taskToken })));
}

async function ifItWaits(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    if (error instanceof TaskTimedOut || error instanceof TaskDoesNotExist || error instanceof InvalidToken) return false;
    throw error;
  }
}
