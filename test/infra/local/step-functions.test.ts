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
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Definition } from '../../../infra/local/step-functions/definition.ts';
import type { ExecutionStatusChangeEvent } from '../../../infra/local/step-functions/status-change-event.ts';
import { startStepFunctions } from '../../../infra/local/step-functions/step-functions.ts';

const stateMachineArn = 'arn:aws:states:local:000000000000:stateMachine:lifecycle';

/** Waits for the token, then records the outcome or, where waiting failed, the error. */
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

async function start(definition: Definition, answer: (call: Call) => unknown = () => ({ done: true })) {
  const calls: Call[] = [];
  const events: ExecutionStatusChangeEvent[] = [];
  const server = await startStepFunctions({
    definition,
    stateMachineArn,
    invoke: async (functionName, payload) => {
      const call = { functionName, payload: payload as Record<string, unknown> };
      calls.push(call);
      return await answer(call);
    },
    onStatusChange: (event) => events.push(event),
  });
  const client = new SFNClient({
    endpoint: server.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  started.push(server.stop, async () => client.destroy());
  const run = async (name: string, input: unknown = { run_id: 'r1' }) =>
    await client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
  const ended = async (count = 1) => await expect.poll(() => events.length, { timeout: 10_000, interval: 10 }).toBe(count);
  const token = async (at = 0) => {
    await expect.poll(() => calls[at], { interval: 5 }).toBeDefined();
    return String(calls[at]?.payload['task_token']);
  };
  return { client, calls, events, run, ended, token };
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

  it('keeps the name of what a function throws, with the cause that Lambda gives', async () => {
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

  it('fails the execution where nothing catches the error', async () => {
    const definition: Definition = { StartAt: 'Only', States: { Only: record('only') } };
    const { events, run, ended } = await start(definition, () => {
      throw Object.assign(new Error('broken'), { name: 'Broken' });
    });
    await run('r1');
    await ended();
    expect(events[0]?.detail).toMatchObject({ status: 'FAILED', error: 'Broken' });
  });

  it('retries with a fresh token each time', async () => {
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

  it('keeps a task alive through thousands of heartbeats and lets it lapse without them', async () => {
    const { client, calls, run, ended, token } = await start(waitingDefinition({ HeartbeatSeconds: 1, TimeoutSeconds: 60 }));
    const startedAt = Date.now();
    await run('r1');
    const taskToken = await token();
    for (let beat = 0; beat < 3_000 || Date.now() - startedAt < 2_500; beat++) {
      await client.send(new SendTaskHeartbeatCommand({ taskToken }));
    }
    expect(calls).toHaveLength(1);
    await ended();
    expect(calls[1]).toMatchObject({ functionName: 'record-lapse', payload: { error: { Error: 'States.HeartbeatTimeout' } } });
    await expect(client.send(new SendTaskHeartbeatCommand({ taskToken }))).rejects.toThrow(TaskTimedOut);
  });

  it('times a task out, however often its heart beats, with limits taken from the input', async () => {
    const limits = { TimeoutSecondsPath: '$.timeout', HeartbeatSecondsPath: '$.heartbeat' };
    const { client, calls, run, ended, token } = await start(waitingDefinition(limits));
    await run('r1', { run_id: 'r1', timeout: 1, heartbeat: 30 });
    const taskToken = await token();
    await client.send(new SendTaskHeartbeatCommand({ taskToken }));
    await ended();
    expect(calls[1]).toMatchObject({ functionName: 'record-lapse', payload: { error: { Error: 'States.Timeout' } } });
    const late = new SendTaskSuccessCommand({ taskToken, output: '{}' });
    await expect(client.send(late)).rejects.toThrow(TaskTimedOut);
  });

  it('matches a lapsed heartbeat by States.Timeout too', async () => {
    const definition = waitingDefinition({ HeartbeatSeconds: 1 });
    const { Deliver, Record, 'Record lapse': lapse } = definition.States;
    const Catch = [{ ErrorEquals: ['States.Timeout'], ResultPath: '$.error', Next: 'Record lapse' }];
    const States = {
      Deliver: { ...Deliver, Type: 'Task', Catch },
      Record: { Type: 'Task', ...Record },
      'Record lapse': { Type: 'Task', ...lapse },
    };
    const { calls, run, ended } = await start({ ...definition, States });
    await run('r1');
    await ended();
    expect(calls[1]).toMatchObject({ functionName: 'record-lapse', payload: { error: { Error: 'States.Timeout' } } });
  });

  it('times out an execution as a whole', async () => {
    const { client, events, run, ended, token } = await start({ ...waitingDefinition({}), TimeoutSeconds: 1 });
    await run('r1');
    await ended();
    expect(events[0]?.detail.status).toBe('TIMED_OUT');
    await expect(client.send(new SendTaskHeartbeatCommand({ taskToken: await token() }))).rejects.toThrow(TaskTimedOut);
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
    await delay(20);
    expect(calls).toHaveLength(1);
    expect(events).toHaveLength(1);
  });

  it('starts an execution once, however often it is asked to', async () => {
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

  it('names what it does not know as AWS does', async () => {
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

  it('refuses a definition that is not Amazon States Language', async () => {
    const definition = { StartAt: 'Missing', States: { Only: record('only') } };
    await expect(start(definition)).rejects.toThrow('invalid');
  });
});
