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
  StopExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, it } from 'vitest';
import type { Definition } from '../../../local/step-functions/tasks.ts';
import type { ExecutionStatusChangeEvent } from '../../../local/step-functions/executions.ts';
import { callInProcess, startStepFunctions } from '../../../local/step-functions/step-functions.ts';
import { inProcess } from '../../../local/machine/environment.ts';
import { amount } from '../../support/amounts.ts';
import { testClock } from '../../support/test-clock.ts';

const stateMachineArn = 'arn:aws:states:local:000000000000:stateMachine:lifecycle';

/** Waits for the token, then records the outcome or the error of the wait. */
function waitingDefinition(limits: Record<string, unknown>): Definition {
  return {
    StartAt: 'Deliver',
    States: {
      Deliver: {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
        Parameters: {
          FunctionName: 'deliver',
          Payload: { 'task_token.$': '$$.Task.Token', 'run_id.$': '$.run_id', 'execution.$': '$$.Execution.Name' },
        },
        ...limits,
        ResultPath: '$.outcome',
        Catch: [
          { ErrorEquals: ['States.HeartbeatTimeout', 'States.Timeout'], ResultPath: '$.error', Next: 'Record lapse' },
          { ErrorEquals: ['States.TaskFailed'], ResultPath: '$.error', Next: 'Record failure' },
        ],
        Next: 'Record',
      },
      Record: record('record'),
      'Record failure': record('record-failure'),
      'Record lapse': record('record-lapse'),
    },
  };
}

/** The same as `waitingDefinition` with one catcher, for this error. */
function caughtBy(error: string, limits: Record<string, unknown>): Definition {
  const { StartAt, States } = waitingDefinition(limits);
  const Catch = [{ ErrorEquals: [error], ResultPath: '$.error', Next: 'Record lapse' }];
  const { 'Record failure': _, ...others } = States;
  return { StartAt, States: { ...others, Deliver: { Type: 'Task', ...States['Deliver'], Catch } } };
}

function record(functionName: string) {
  return {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke',
    Parameters: { FunctionName: functionName, 'Payload.$': '$' },
    OutputPath: '$.Payload',
    End: true,
  };
}

interface Call {
  functionName: string;
  payload: Record<string, unknown>;
}

const started: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of started.splice(0)) await stop();
});

async function start(
  definition: Definition,
  answer: (call: Call) => unknown = () => ({ done: true }),
  options: { mostEnded?: number } = {},
) {
  const calls: Call[] = [];
  const events: ExecutionStatusChangeEvent[] = [];
  const clock = testClock();
  const server = startStepFunctions({
    definition,
    stateMachineArn,
    invoke: async (functionName, payload) => {
      const call = { functionName, payload: payload as Record<string, unknown> };
      calls.push(call);
      return await answer(call);
    },
    onStatusChange: (event) => events.push(event),
    clock,
    ...options,
  });
  const client = new SFNClient({
    endpoint: inProcess,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  callInProcess(client, server.answer);
  started.push(server.stop, async () => client.destroy());
  const run = async (name: string, input: unknown = { run_id: 'r1' }) =>
    await client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
  const ended = async (count = 1) => await expect.poll(() => events.length).toBe(count);
  const token = async (at = 0) => {
    await expect.poll(() => calls[at]).toBeDefined();
    return String(calls[at]?.payload['task_token']);
  };
  return { client, calls, events, run, ended, token, clock };
}

describe('startStepFunctions', () => {
  it('hands the output of SendTaskSuccess to the next state and reports the end', async () => {
    const { client, calls, events, run, ended, token } = await start(
      waitingDefinition({ TimeoutSeconds: 60, HeartbeatSeconds: 30 }),
    );
    const { executionArn } = await run('r1');
    await client.send(new SendTaskSuccessCommand({ taskToken: await token(), output: '{"status":"completed"}' }));
    await ended();

    expect(calls[0]).toEqual({ functionName: 'deliver', payload: { task_token: await token(), run_id: 'r1', execution: 'r1' } });
    expect(calls[1]).toEqual({ functionName: 'record', payload: { run_id: 'r1', outcome: { status: 'completed' } } });
    const description = await client.send(new DescribeExecutionCommand({ executionArn }));
    expect(description).toMatchObject({ status: 'SUCCEEDED', name: 'r1', output: '{"done":true}', input: '{"run_id":"r1"}' });
    expect(description.stopDate).toBeInstanceOf(Date);
    expect(events[0]).toMatchObject({
      source: 'aws.states',
      'detail-type': 'Step Functions Execution Status Change',
      detail: { executionArn, stateMachineArn, name: 'r1', status: 'SUCCEEDED', input: '{"run_id":"r1"}' },
    });
  });

  it('hands the error and cause of SendTaskFailure to the catcher', async () => {
    const { client, calls, run, ended, token } = await start(waitingDefinition({}));
    await run('r1');
    await client.send(new SendTaskFailureCommand({ taskToken: await token(), error: 'Rejected', cause: 'no memory' }));
    await ended();
    expect(calls[1]).toEqual({
      functionName: 'record-failure',
      payload: { run_id: 'r1', error: { Error: 'Rejected', Cause: 'no memory' } },
    });
  });

  it('hands the name of an error that a function throws to the catcher, with the cause as Lambda writes it', async () => {
    const { calls, run, ended } = await start(waitingDefinition({}), ({ functionName }) => {
      if (functionName === 'deliver') throw Object.assign(new Error('gone'), { name: 'NoSuchRun' });
    });
    await run('r1');
    await ended();
    expect(calls[1]?.payload['error']).toEqual({
      Error: 'NoSuchRun',
      Cause: '{"errorType":"NoSuchRun","errorMessage":"gone","trace":[]}',
    });
  });

  it('fails the execution when nothing catches the error', async () => {
    const definition: Definition = { StartAt: 'Only', States: { Only: record('only') } };
    const { events, run, ended } = await start(definition, () => {
      throw Object.assign(new Error('broken'), { name: 'Broken' });
    });
    await run('r1');
    await ended();
    expect(events[0]?.detail).toMatchObject({ status: 'FAILED', error: 'Broken' });
  });

  it('gives each attempt of a retried task a token of its own', async () => {
    const definition = waitingDefinition({ Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 0, MaxAttempts: 2 }] });
    let attempts = 0;
    const { client, calls, run, ended, token } = await start(definition, ({ functionName }) => {
      if (functionName === 'deliver' && ++attempts < 3) throw Object.assign(new Error('busy'), { name: 'Busy' });
    });
    await run('r1');
    await client.send(new SendTaskSuccessCommand({ taskToken: await token(2), output: '{}' }));
    await ended();
    expect(new Set(calls.slice(0, 3).map((call) => call.payload['task_token'])).size).toBe(3);
    await expect(client.send(new SendTaskHeartbeatCommand({ taskToken: await token(0) }))).rejects.toThrow(TaskTimedOut);
  });

  const beats = amount({ sample: 100, full: 3_000 });
  it(`keeps a task alive through ${beats} heartbeats and fails it with States.HeartbeatTimeout when they cease`, async () => {
    const { client, calls, run, ended, token, clock } = await start(
      waitingDefinition({ HeartbeatSeconds: 60, TimeoutSeconds: 100_000 }),
    );
    await run('r1');
    const taskToken = await token();
    for (let beat = 0; beat < beats; beat++) {
      clock.move(30_000);
      await client.send(new SendTaskHeartbeatCommand({ taskToken }));
    }
    expect(calls).toHaveLength(1);
    clock.move(60_000);
    await ended();
    expect(calls[1]).toMatchObject({ functionName: 'record-lapse', payload: { error: { Error: 'States.HeartbeatTimeout' } } });
    await expect(client.send(new SendTaskHeartbeatCommand({ taskToken }))).rejects.toThrow(TaskTimedOut);
  });

  it('fails a task with States.Timeout although it sends heartbeats', async () => {
    const limits = { TimeoutSeconds: 600, HeartbeatSeconds: 400 };
    const { client, calls, run, ended, token, clock } = await start(waitingDefinition(limits));
    await run('r1');
    const taskToken = await token();
    clock.move(300_000);
    await client.send(new SendTaskHeartbeatCommand({ taskToken }));
    expect(calls).toHaveLength(1);
    clock.move(300_000);
    await ended();
    expect(calls[1]).toMatchObject({ functionName: 'record-lapse', payload: { error: { Error: 'States.Timeout' } } });
    const late = new SendTaskSuccessCommand({ taskToken, output: '{}' });
    await expect(client.send(late)).rejects.toThrow(TaskTimedOut);
  });

  it('never times out a task without a limit', async () => {
    const { client, calls, run, ended, token, clock } = await start(waitingDefinition({}));
    await run('r1');
    const taskToken = await token();
    clock.move(365 * 86_400_000);
    await client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' }));
    await ended();
    expect(calls[1]).toMatchObject({ functionName: 'record' });
  });

  it('matches a timeout by States.ALL', async () => {
    const { calls, run, ended, token, clock } = await start(caughtBy('States.ALL', { TimeoutSeconds: 60 }));
    await run('r1');
    await token();
    clock.move(60_000);
    await ended();
    expect(calls[1]).toMatchObject({ functionName: 'record-lapse', payload: { error: { Error: 'States.Timeout' } } });
  });

  it('retries a timed out task if States.Timeout is named, each attempt with its full time limit', async () => {
    const Retry = [{ ErrorEquals: ['States.Timeout'], IntervalSeconds: 0, MaxAttempts: 1 }];
    const { calls, run, ended, token, clock } = await start(waitingDefinition({ TimeoutSeconds: 60, Retry }));
    await run('r1');
    await token(0);
    clock.move(60_000);
    await token(1);
    clock.move(30_000);
    expect(calls).toHaveLength(2);
    clock.move(30_000);
    await ended();
    expect(calls.map(({ functionName }) => functionName)).toEqual(['deliver', 'deliver', 'record-lapse']);
  });

  it('stops an execution without running a catcher or a retrier', async () => {
    const Retry = [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 0 }];
    const { client, calls, events, run, ended, token } = await start(waitingDefinition({ TimeoutSeconds: 60, Retry }));
    const { executionArn } = await run('r1');
    const taskToken = await token();
    const first = await client.send(new StopExecutionCommand({ executionArn, error: 'ByHand', cause: 'maintenance' }));
    const second = await client.send(new StopExecutionCommand({ executionArn }));
    await ended();
    expect(second.stopDate).toEqual(first.stopDate);
    expect(events[0]?.detail).toMatchObject({ status: 'ABORTED', error: 'ByHand', cause: 'maintenance' });
    await expect(client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' }))).rejects.toThrow(TaskTimedOut);
    await new Promise(setImmediate); // a retrier or catcher would have called by now
    expect(calls).toHaveLength(1);
    expect(events).toHaveLength(1);
  });

  it('starts an execution once when it is started twice with the same input', async () => {
    const { client, calls, run, ended, token } = await start(waitingDefinition({}));
    const first = await run('r1');
    const second = await run('r1');
    expect(second.executionArn).toBe(first.executionArn);
    expect(second.startDate).toEqual(first.startDate);
    await expect(run('r1', { run_id: 'other' })).rejects.toThrow(ExecutionAlreadyExists);
    await client.send(new SendTaskSuccessCommand({ taskToken: await token(), output: '{}' }));
    await ended();
    await expect(run('r1')).rejects.toThrow(ExecutionAlreadyExists);
    expect(calls.map((call) => call.functionName)).toEqual(['deliver', 'record']);
  });

  it('forgets the oldest ended executions beyond the limit, and none that runs', async () => {
    const { client, run, ended, token } = await start(waitingDefinition({}), undefined, { mostEnded: 2 });
    const arns: (string | undefined)[] = [];
    for (const name of ['r1', 'r2', 'r3', 'r4']) {
      arns.push((await run(name)).executionArn);
      await token(arns.length - 1);
    }
    for (const executionArn of arns.slice(1)) await client.send(new StopExecutionCommand({ executionArn }));
    await ended(3);
    const statusOf = async (executionArn: string | undefined) =>
      (await client.send(new DescribeExecutionCommand({ executionArn }))).status;
    await expect(statusOf(arns[1])).rejects.toThrow(ExecutionDoesNotExist);
    expect([await statusOf(arns[0]), await statusOf(arns[2]), await statusOf(arns[3])]).toEqual([
      'RUNNING',
      'ABORTED',
      'ABORTED',
    ]);
  });

  it('answers with the errors of AWS to unknown executions, tokens, outputs and names', async () => {
    const { client, token, run } = await start(waitingDefinition({}));
    const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:nobody`;
    await expect(client.send(new DescribeExecutionCommand({ executionArn }))).rejects.toThrow(ExecutionDoesNotExist);
    await expect(client.send(new StopExecutionCommand({ executionArn }))).rejects.toThrow(ExecutionDoesNotExist);
    await expect(client.send(new SendTaskHeartbeatCommand({ taskToken: 'nonsense' }))).rejects.toThrow(InvalidToken);
    await run('r1');
    const other = await start(waitingDefinition({}));
    const foreign = new SendTaskHeartbeatCommand({ taskToken: await token() });
    await expect(other.client.send(foreign)).rejects.toThrow(TaskDoesNotExist);
    await expect(client.send(new SendTaskSuccessCommand({ taskToken: await token(), output: '{' }))).rejects.toThrow(
      'Invalid Output',
    );
    await expect(run('no spaces allowed')).rejects.toThrow('Invalid Name');
  });
});
