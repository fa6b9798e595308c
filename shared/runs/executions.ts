import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidToken,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  SFNServiceException,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
  type ExecutionStatus,
} from '@aws-sdk/client-sfn';
import { clientLimits } from '../client-limits.ts';
import { sharedClient } from '../clients.ts';
import { Deadline, type DeadlineSource } from '../deadline.ts';
import { environment } from '../environment.ts';
import { log } from '../logger.ts';
import { runOverErrorName } from './run-over.ts';
import type { RunReference } from './run-reference.ts';

/** Access to the state machine's executions and their waiting tasks. */
export interface Executions {
  client: SFNClient;
  stateMachineArn: string;
  /** Default: a new deadline of 5 seconds for each call. */
  deadline?: DeadlineSource;
}

const createClient = () => new SFNClient({ requestHandler: clientLimits });

/** Opens the stage's state machine. The client is created at the first call. */
export function openExecutions(deadline: DeadlineSource): Executions {
  return { client: sharedClient(createClient), stateMachineArn: environment().STATE_MACHINE_ARN, deadline };
}

/** Ends a call to Step Functions that is still open at the deadline. */
function untilDeadline({ deadline }: Executions): { abortSignal: AbortSignal } {
  return { abortSignal: (deadline?.() ?? new Deadline()).signal() };
}

export type ExecutionAction = 'run' | 'stop';

/** @param resumed how often the run was resumed under another name: see resumeRun */
export function executionName(action: ExecutionAction, runId: string, resumed = 0): string {
  return resumed === 0 ? `${action}-${runId}` : `${action}-${runId}-${resumed}`;
}

/** Starts the execution of a run or of its stop. Its name contains the run's identifier, so this is safe to repeat. */
export async function startExecution(
  executions: Executions,
  action: ExecutionAction,
  run: RunReference,
  resumed = 0,
): Promise<void> {
  try {
    await executions.client.send(
      new StartExecutionCommand({
        stateMachineArn: executions.stateMachineArn,
        name: executionName(action, run.run_id, resumed),
        input: JSON.stringify({ action, ...run }),
      }),
      untilDeadline(executions),
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
  resumed = 0,
): Promise<ExecutionStatus | undefined> {
  const name = executionName(action, runId, resumed);
  const executionArn = `${executions.stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
  try {
    const { status } = await executions.client.send(new DescribeExecutionCommand({ executionArn }), untilDeadline(executions));
    return status;
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
}

/** Completes a waiting task. @returns false if it no longer waits */
export function completeTask(executions: Executions, taskToken: string): Promise<boolean> {
  const command = new SendTaskSuccessCommand({ taskToken, output: '{}' });
  return sendIfWaiting(() => executions.client.send(command, untilDeadline(executions)));
}

/** Fails a waiting task because its run is over. The state machine catches this and continues; nothing counts as an error. */
export async function failTaskAsOver(executions: Executions, taskToken: string): Promise<void> {
  log('INFO', 'The run is over.');
  const command = new SendTaskFailureCommand({ taskToken, error: runOverErrorName });
  await sendIfWaiting(() => executions.client.send(command, untilDeadline(executions)));
}

/**
 * Sends the heartbeat of a waiting task. One that Step Functions throttles is left out: the next one comes long before the task counts
 * as silent, and what the CVM reported is recorded.
 */
export async function sendHeartbeat(executions: Executions, taskToken: string): Promise<void> {
  const command = new SendTaskHeartbeatCommand({ taskToken });
  try {
    await sendIfWaiting(() => executions.client.send(command, untilDeadline(executions)));
  } catch (error) {
    if (!(error instanceof SFNServiceException && error.name === 'ThrottlingException')) throw error;
    log('WARN', 'Step Functions throttled a heartbeat.', {}, error);
  }
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
