import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidToken,
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

/** Ends a wait. @returns whether something still waited */
export function endWait(executions: Executions, taskToken: string): Promise<boolean> {
  return whileItWaits(() => executions.client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' })));
}

/** Tells a wait that its CVM lives. @returns whether something still waited */
export function beatHeart(executions: Executions, taskToken: string): Promise<boolean> {
  return whileItWaits(() => executions.client.send(new SendTaskHeartbeatCommand({ taskToken })));
}

async function whileItWaits(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    if (error instanceof TaskTimedOut || error instanceof TaskDoesNotExist || error instanceof InvalidToken) return false;
    throw error;
  }
}
