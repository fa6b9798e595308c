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
} from '@aws-sdk/client-sfn';
import * as v from 'valibot';
import { type RunReference, referenceTo, runReference } from '../rows/run.ts';
import { clientLimits, sharedClient } from '../runtime/clients.ts';
import { Deadline, type DeadlineSource } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import { emitMetric, log } from '../runtime/log.ts';
import { type Table, getItem } from '../table/table.ts';
import { type Claim, readClaim } from '../rows/claim.ts';
import { runOverErrorName } from './state-machine.ts';
import { computationKey, findComputation } from '../rows/computation.ts';

/** The state machine in Step Functions whose executions take runs to their end. */
export interface Executions {
  client: SFNClient;
  stateMachineArn: string;
  /** The time limit of calls of Step Functions. Default: 5 seconds for each call. */
  deadline?: DeadlineSource;
}

const createClient = () => new SFNClient({ requestHandler: clientLimits });

/** Opens the state machine of the stage, whose executions take runs to their end. */
export function openExecutions(deadline: DeadlineSource): Executions {
  return { client: sharedClient(createClient), stateMachineArn: environment().STATE_MACHINE_ARN, deadline };
}

function untilDeadline({ deadline }: Executions): { abortSignal: AbortSignal } {
  return { abortSignal: (deadline?.() ?? new Deadline()).signal() };
}

/** The purpose of an execution: to take a run to its end, or to stop it. */
export type ExecutionAction = 'run' | 'stop';

/** Returns the name of the execution for a run. @param resumed how often the run was resumed: see resumeRun */
export function executionName(action: ExecutionAction, runId: string, resumed = 0): string {
  return resumed === 0 ? `${action}-${runId}` : `${action}-${runId}-${resumed}`;
}

/** Starts an execution for a run. Safe to repeat: the name of the execution contains the run's identifier. */
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
        input: JSON.stringify({ action, ...v.parse(runReference, run) }),
      }),
      untilDeadline(executions),
    );
  } catch (error) {
    if (!(error instanceof ExecutionAlreadyExists)) throw error;
  }
}

/** Reads the status of an execution for a run, eventually consistent. Undefined if it was never started. */
export async function executionStatus(executions: Executions, action: ExecutionAction, runId: string, resumed = 0) {
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

/** Completes a waiting task of an execution for a run. @returns false if the task no longer waits */
export function completeTask(executions: Executions, taskToken: string): Promise<boolean> {
  const command = new SendTaskSuccessCommand({ taskToken, output: '{}' });
  return sendIfWaiting(() => executions.client.send(command, untilDeadline(executions)));
}

/** Fails a task of an execution because its run is over. The state machine catches the failure, so nothing counts as an error. */
export async function failTaskAsOver(executions: Executions, taskToken: string): Promise<void> {
  log('INFO', 'The run is over.');
  const command = new SendTaskFailureCommand({ taskToken, error: runOverErrorName });
  await sendIfWaiting(() => executions.client.send(command, untilDeadline(executions)));
}

/**
 * Tells Step Functions that the CVM of a waiting task is alive. Leaves out a heartbeat that Step Functions throttles: the next
 * one comes in time, and what the CVM reported is recorded.
 */
export async function sendHeartbeat(executions: Executions, taskToken: string): Promise<void> {
  const command = new SendTaskHeartbeatCommand({ taskToken });
  try {
    await sendIfWaiting(() => executions.client.send(command, untilDeadline(executions)));
  } catch (error) {
    if (!(error instanceof SFNServiceException && error.name === 'ThrottlingException')) throw error;
    emitMetric('HeartbeatsThrottled', 1);
  }
}

/** Calls a function that sends a message to a task of an execution. @returns false if the task no longer waits */
async function sendIfWaiting(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    if (error instanceof TaskTimedOut || error instanceof TaskDoesNotExist || error instanceof InvalidToken) return false;
    throw error;
  }
}

/**
 * Completes the tasks of the state machine that wait for a run.
 * @returns whether the run's execution was waiting, so that it will record the outcome
 */
export async function completeWaitingTasks(executions: Executions, claim: Claim): Promise<boolean> {
  const tokensOfRun = [claim.offer_token, claim.run_token].filter((token) => token !== undefined);
  const [waited] = await Promise.all([
    Promise.all(tokensOfRun.map((token) => completeTask(executions, token))),
    claim.stop_token === undefined ? undefined : completeTask(executions, claim.stop_token),
  ]);
  return waited.some(Boolean);
}

const statusDuring = { run: 'running', stop: 'stopping' } as const;

/**
 * Starts the execution that takes an active run to its end, or that stops a run that is being stopped. It may be missing, because
 * the process of the request may have died after the transaction. Safe to repeat.
 */
export async function ensureExecution(
  table: Table,
  executions: Executions,
  { domain, computationId, runId }: Record<'domain' | 'computationId' | 'runId', string>,
  kind: ExecutionAction,
): Promise<void> {
  const row = findComputation(await getItem(table, computationKey(domain, computationId)), computationId);
  if (row?.status !== statusDuring[kind] || row.run?.id !== runId) return;
  await startExecutionByName(table, executions, kind, referenceTo(domain, row.run));
}

/** Starts an execution for a run under the name that the sweep looks for. Does nothing if the run is over. Safe to repeat. */
export async function startExecutionByName(
  table: Table,
  executions: Executions,
  kind: ExecutionAction,
  run: RunReference,
): Promise<void> {
  const claim = await readClaim(table, run);
  if (claim) await startExecution(executions, kind, run, claim.resumed);
}
