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
import { computationKey, findComputation } from '../computations/read-computation.ts';
import { type RunReference, referenceTo } from '../computations/run.ts';
import { clientLimits, sharedClient } from '../runtime/clients.ts';
import { Deadline, type DeadlineSource } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import { log } from '../runtime/log.ts';
import { getItem, type Table } from '../table/table.ts';
import { type Claim, readClaim } from './claim.ts';
import { runOverErrorName } from './state-machine.ts';

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

/**
 * Completes all tasks that wait for the outcome of a run. Safe to repeat.
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

interface RunOfComputation {
  domain: string;
  computationId: string;
  runId: string;
}

/**
 * Starts the execution that an earlier request to start a run left out, if the run is still running: the process may have died
 * after its transaction. Safe to repeat.
 */
export async function ensureRunExecution(table: Table, executions: Executions, run: RunOfComputation): Promise<void> {
  await ensureExecution(table, executions, run, 'run');
}

/** As ensureRunExecution, for the execution that delivers a stop, if the run is still stopping. */
export async function ensureStopExecution(table: Table, executions: Executions, run: RunOfComputation): Promise<void> {
  await ensureExecution(table, executions, run, 'stop');
}

const statusDuring = { run: 'running', stop: 'stopping' } as const;

async function ensureExecution(
  table: Table,
  executions: Executions,
  { domain, computationId, runId }: RunOfComputation,
  kind: ExecutionAction,
): Promise<void> {
  const row = findComputation(await getItem(table, computationKey(domain, computationId)), computationId);
  if (row?.status !== statusDuring[kind] || row.run?.id !== runId) return;
  await startExecutionByName(table, executions, kind, referenceTo(domain, row.run));
}

/**
 * Starts the execution of an active run or of its stop by the name that the sweep looks for, which a resumed run has in its claim.
 * Starts none if the run is over. Safe to repeat.
 */
export async function startExecutionByName(
  table: Table,
  executions: Executions,
  kind: ExecutionAction,
  run: RunReference,
): Promise<void> {
  const claim = await readClaim(table, run);
  if (claim) await startExecution(executions, kind, run, claim.resumed);
}
