import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DescribeExecutionCommand, type ExecutionStatus } from '@aws-sdk/client-sfn';
import { executionStatus } from '../../../shared/runs/executions.ts';
import { readRun } from '../../../shared/runs/read-run.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { sweepRuns } from '../../../shared/runs/sweep-runs.ts';
import { aReadyComputation, aRun, byAlice, startStores, type Stores } from '../../support/builders-store.ts';
import { startIdleStepFunctions } from '../../support/lifecycle-idle-step-functions.ts';

let stores: Stores;
let lost: Awaited<ReturnType<typeof startIdleStepFunctions>>;
beforeAll(async () => {
  stores = await startStores();
  lost = await startIdleStepFunctions();
});
afterAll(async () => {
  await lost.stop();
  await stores.stop();
});

describe('sweepRuns', () => {
  it('leaves a run whose execution is missing alone during its grace period, and fails it when that has passed', async () => {
    const { id } = await aReadyComputation(stores, 'd1');
    const run = await aRun(stores, 'd1', id);
    const graceInSeconds = 60;
    const sweepAfter = (milliseconds: number) => {
      const now = new Date(Date.parse(byAlice.now) + milliseconds).toISOString();
      return sweepRuns(stores.table, lost.executions, now, { graceInSeconds });
    };
    expect(await sweepAfter(59_999)).toBe(0);
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({ status: 'running' });
    expect(await sweepAfter(60_000)).toBe(1);
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({ status: 'failed' });
  });

  /** Sweeps while Step Functions says that every execution has this status, which the embedded one never gives to a lone execution. */
  async function sweepWhileExecutionsAre(status: ExecutionStatus): Promise<number> {
    const { executions, stop } = await startIdleStepFunctions();
    executions.client.middlewareStack.add(
      (next, { commandName }) =>
        async (sent) =>
          commandName === DescribeExecutionCommand.name ? { output: { $metadata: {}, status }, response: {} } : await next(sent),
      { step: 'initialize' },
    );
    const ended = await sweepRuns(stores.table, executions, byAlice.now, { graceInSeconds: 0 });
    await stop();
    return ended;
  }

  it.each(['RUNNING', 'PENDING_REDRIVE'] as const)('leaves a run whose execution is %s alone', async (status) => {
    const { id } = await aReadyComputation(stores, 'd1');
    const run = await aRun(stores, 'd1', id, `cvm-${status}`);
    expect(await sweepWhileExecutionsAre(status)).toBe(0);
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({ status: 'running' });
    expect(await sweepWhileExecutionsAre('ABORTED')).toBe(1);
  });

  it.each(['FAILED', 'TIMED_OUT', 'ABORTED', 'SUCCEEDED'] as const)('fails a run whose execution ended as %s', async (status) => {
    const { id } = await aReadyComputation(stores, 'd1');
    const run = await aRun(stores, 'd1', id, `cvm-${status}`);
    expect(await sweepWhileExecutionsAre(status)).toBe(1);
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({
      status: 'failed',
      reason: `The execution of the run ended as ${status}.`,
    });
  });

  it('starts the execution of a stop that a crash has left out', async () => {
    const { id } = await aReadyComputation(stores, 'd1');
    const run = await aRun(stores, 'd1', id, 'cvm-stop');
    await stopRun(stores.table, lost.executions, { domain: 'd1', computationId: id, ...byAlice });
    expect(await executionStatus(stores.executions, 'stop', run)).toBeUndefined();
    await sweepRuns(stores.table, stores.executions, byAlice.now, { graceInSeconds: 0 });
    expect(await executionStatus(stores.executions, 'stop', run)).toBe('RUNNING');
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({ status: 'stopping' });
  });
});
