import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  DescribeExecutionCommand,
  StartExecutionCommand,
  type ExecutionStatus,
  type StartExecutionCommandInput,
} from '@aws-sdk/client-sfn';
import { readClaims } from '../../../shared/runs/claim.ts';
import { endRun } from '../../../shared/runs/end-run.ts';
import { executionStatus } from '../../../shared/runs/executions.ts';
import { readRun } from '../../../shared/computations/read-run.ts';
import { recordReports } from '../../../shared/runs/record-reports.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { sweepRuns } from '../../../shared/runs/sweep-runs.ts';
import { waysToEnd } from '../../../shared/runs/ways-to-end.ts';
import type { Table } from '../../../shared/table/table.ts';
import { aReadyComputation, aRun, byAlice, startStores, type Stores } from '../../support/builders-store.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { startIdleStepFunctions } from '../../support/lifecycle-idle-step-functions.ts';

/** How runs end that a test ends. */
const end = { way: waysToEnd.recordOutcome.failure };

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

  /** The executions that the last such sweep started. */
  const started: string[] = [];

  /** Sweeps while Step Functions says that every execution has this status, which the embedded one never gives to a lone execution. */
  async function sweepWhileExecutionsAre(status: ExecutionStatus, resumes = false): Promise<number> {
    const { executions, stop } = await startIdleStepFunctions();
    started.length = 0;
    executions.client.middlewareStack.add(
      (next, { commandName }) =>
        async (sent) => {
          if (commandName === StartExecutionCommand.name) started.push((sent.input as StartExecutionCommandInput).name ?? '');
          return commandName === DescribeExecutionCommand.name
            ? { output: { $metadata: {}, status }, response: {} }
            : await next(sent);
        },
      { step: 'initialize' },
    );
    const ended = await sweepRuns(stores.table, executions, byAlice.now, { graceInSeconds: 0, resumes });
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

  it('does not count a run that ends otherwise during the sweep', async () => {
    const { id } = await aReadyComputation(stores, 'd1');
    const run_id = await aRun({ table: stores.table, executions: lost.executions }, 'd1', id, 'cvm-ended');
    const reference = { domain: 'd1', computation_id: id, run_id, cvm_id: 'cvm-ended' };
    beforeTheNextTransaction(stores.mortal, async () => {
      expect(await endRun(stores.table, reference, end, byAlice.now)).toBe(true);
    });
    expect(await sweepRuns(stores.mortal, stores.executions, byAlice.now, { graceInSeconds: 0 })).toBe(0);
    expect(await readRun(stores.table, 'd1', run_id)).toMatchObject({ reason: end.way.reason() });
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

  it('ends a run whose CVM has reported the outcome and whose execution is missing, also when it resumes', async () => {
    const { id } = await aReadyComputation(stores, 'd1');
    const cvmId = 'cvm-reported';
    const run = await aRun({ table: stores.table, executions: lost.executions }, 'd1', id, cvmId);
    const report = {
      id: 'r',
      run_id: run,
      type: 'event',
      event_type: 'Complete',
      status: 'Completed',
      originator: 'agent',
    } as const;
    await recordReports(stores.table, lost.executions, { domain: 'd1', cvmId, reports: [report], now: byAlice.now });
    expect(await sweepRuns(stores.table, stores.executions, byAlice.now, { graceInSeconds: 0, resumes: true })).toBe(1);
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({ status: 'completed' });
    expect(await executionStatus(stores.executions, 'run', run)).toBeUndefined();
  });

  it('starts the missing executions of a run and of its stop after a restart', async () => {
    const { id } = await aReadyComputation(stores, 'd1');
    const run = await aRun({ table: stores.table, executions: lost.executions }, 'd1', id, 'cvm-resumed');
    await stopRun(stores.table, lost.executions, { domain: 'd1', computationId: id, ...byAlice });
    expect(await sweepRuns(stores.table, stores.executions, byAlice.now, { graceInSeconds: 0, resumes: true })).toBe(0);
    expect(await executionStatus(stores.executions, 'run', run)).toBe('RUNNING');
    expect(await executionStatus(stores.executions, 'stop', run)).toBe('RUNNING');
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({ status: 'stopping' });
  });

  it('starts an execution with the next number in its name if one has ended, each time it runs after a restore', async () => {
    const { id } = await aReadyComputation(stores, 'd1');
    const run = await aRun(stores, 'd1', id, 'cvm-restored');
    expect(await sweepWhileExecutionsAre('ABORTED', true)).toBe(0);
    expect(started).toContain(`run-${run}-1`);
    expect(await sweepWhileExecutionsAre('RUNNING', true)).toBe(0);
    expect(started).toEqual([]);
    expect(await sweepWhileExecutionsAre('SUCCEEDED', true)).toBe(0);
    expect(started).toContain(`run-${run}-2`);
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({ status: 'running' });
  });

  describe('when it has calls for only some of the runs', () => {
    beforeEach(async () => {
      for (const claim of await readClaims(stores.table)) await endRun(stores.table, claim, end, byAlice.now);
    });

    const sweep = (table: Table, mostCalls: number) =>
      sweepRuns(table, stores.executions, byAlice.now, { graceInSeconds: 0, mostCalls });

    it('looks at the remaining runs next time, also if it has one call for each run and stopping runs take two', async () => {
      const runs: string[] = [];
      for (const cvmId of ['cvm-a', 'cvm-b']) {
        const { id } = await aReadyComputation(stores, 'd1');
        runs.push(await aRun(stores, 'd1', id, cvmId));
        await stopRun(stores.table, lost.executions, { domain: 'd1', computationId: id, ...byAlice });
      }
      const stops = () => Promise.all(runs.map((run) => executionStatus(stores.executions, 'stop', run)));
      await sweep(stores.table, 2);
      expect(await stops()).toEqual(['RUNNING', undefined]);
      await sweep(stores.table, 2);
      expect(await stops()).toEqual(['RUNNING', 'RUNNING']);
    });

    it('reads where the last sweep ended only if it has too few calls for all runs', async () => {
      const { id } = await aReadyComputation(stores, 'd1');
      await aRun(stores, 'd1', id, 'cvm-a');
      const readsWith = async (mostCalls: number) => {
        stores.proxy.reset();
        await sweep(stores.mortal, mostCalls);
        return stores.proxy.calls.filter(({ operation }) => operation === 'GetItem').length;
      };
      expect([await readsWith(2), await readsWith(1)]).toEqual([0, 1]);
    });
  });
});
