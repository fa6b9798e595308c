import { beforeEach, describe, expect, it } from 'vitest';
import {
  DescribeExecutionCommand,
  StartExecutionCommand,
  type ExecutionStatus,
  type StartExecutionCommandInput,
} from '@aws-sdk/client-sfn';
import { cvmKeys, keyToWrite, sweepKeys } from '../../../shared/table/keys.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { readClaims } from '../../../shared/rows/claim.ts';
import { endRun } from '../../../shared/lifecycle/run-steps.ts';
import { executionStatus } from '../../../shared/lifecycle/executions.ts';
import { recordReports } from '../../../shared/cvms/record-reports.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { inTurn, readSweepState, sweepRuns, writeSweepState } from '../../../shared/lifecycle/sweep-runs.ts';
import { type Table, getItem } from '../../../shared/table/table.ts';
import { aReadyComputation, aRun, aRunOnNewCvm, byAlice, startStores } from '../../support/builders-store.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { startIdleStepFunctions } from '../../support/simulated-step-functions.ts';
import { readRun, waysToEnd } from '../../../shared/rows/run.ts';
import { computationKey } from '../../../shared/rows/computation.ts';

/** The way in which tests end a run: by a failure. */
const end = { way: waysToEnd.recordOutcome.failure };

const stores = sharedByTests(startStores);
/** A Step Functions that has lost all executions. */
const lost = sharedByTests(startIdleStepFunctions);

const cvm = (domain: string, cvm_id: string) => ({ domain, cvm_id });
const a = cvm('a', '2');
const b = cvm('b', '1');
const c = cvm('b', '2');

describe('inTurn', () => {
  it('begins with the first CVM by domain and identifier if none was looked at before', () => {
    expect(inTurn([c, a, b], undefined)).toEqual([a, b, c]);
  });

  it.each([
    ['the first', a, [b, c, a]],
    ['one between', b, [c, a, b]],
    ['the last', c, [a, b, c]],
    ['a CVM before all', cvm('a', '1'), [a, b, c]],
    ['a CVM that is gone', cvm('a', '3'), [b, c, a]],
    ['a CVM behind all', cvm('c', ''), [a, b, c]],
  ])('goes on after %s, then around', (_what, last, expected) => {
    expect(inTurn([c, a, b], last)).toEqual(expected);
  });

  it('looks again at a CVM that is the only one', () => {
    expect(inTurn([a], a)).toEqual([a]);
  });

  it('keeps the order of claims of the same CVM, and leaves the given list as it is', () => {
    const claims = [
      { ...b, id: 1 },
      { ...a, id: 2 },
      { ...b, id: 3 },
    ];
    expect(inTurn(claims, undefined).map(({ id }) => id)).toEqual([2, 1, 3]);
    expect(claims.map(({ id }) => id)).toEqual([1, 2, 3]);
  });
});

describe('the state of the sweep', () => {
  it('is empty before the first sweep, and then keeps the CVM of each kind of claim', async () => {
    expect(await readSweepState(stores.table)).toEqual({});
    await writeSweepState(stores.table, { suspect: a, other: b });
    expect(await readSweepState(stores.table)).toMatchObject({ suspect: a, other: b });
    await writeSweepState(stores.table, { suspect: undefined, other: c });
    expect(await readSweepState(stores.table)).toEqual({ other: c });
    await writeSweepState(stores.table, { suspect: b });
    expect(await readSweepState(stores.table)).toEqual({ suspect: b });
  });

  it('contains the CVMs of claims and nothing else of them', async () => {
    const claim = (of: typeof a) => ({ ...of, run_id: 'run', offer_token: 'secret' });
    await writeSweepState(stores.table, { suspect: claim(a), other: claim(b) });
    expect(await getItem(stores.table, sweepKeys.state)).toEqual({ ...sweepKeys.state, suspect: a, other: b });
  });
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

  /** The names of the executions that the last sweep under `sweepWhileExecutionsAre` started. */
  const started: string[] = [];

  /**
   * Sweeps while Step Functions says that every execution has this status, which the embedded engine never gives to a lone
   * execution.
   */
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

  it('starts the missing execution of a stop under the number of the run, if the run was resumed before', async () => {
    const { id } = await aReadyComputation(stores, 'd1');
    const run = await aRun(stores, 'd1', id, 'cvm-resumed-once');
    await sweepWhileExecutionsAre('ABORTED', true);
    await stopRun(stores.table, lost.executions, { domain: 'd1', computationId: id, ...byAlice });
    await sweepRuns(stores.table, stores.executions, byAlice.now, { graceInSeconds: 0, resumes: true });
    expect(await executionStatus(stores.executions, 'stop', run)).toBeUndefined();
    expect(await executionStatus(stores.executions, 'stop', run, 1)).toBe('RUNNING');
  });

  it('ends the other runs when one cannot be ended, and throws an AggregateError that names the run', async () => {
    const [broken, orphan] = [await aRunOnNewCvm(stores, 'd1'), await aRunOnNewCvm(stores, 'd1')];
    const key = computationKey('d1', broken.computation_id);
    const row = await getItem(stores.table, key);
    await transact(stores.table, [{ delete: { Key: keyToWrite(key) } }]);
    const message = expect.stringMatching(`^run ${broken.run_id} of the domain d1: `) as string;
    const failure = expect.objectContaining({ message }) as Error;
    const swept = sweepRuns(stores.table, lost.executions, byAlice.now, { graceInSeconds: 0 });
    await expect(swept).rejects.toMatchObject({ name: 'AggregateError', errors: [failure] });
    expect(await readRun(stores.table, 'd1', orphan.run_id)).toMatchObject({ status: 'failed' });
    await putItem(stores.table, { ...keyToWrite(key), ...row });
    expect(await sweepRuns(stores.table, lost.executions, byAlice.now, { graceInSeconds: 0 })).toBeGreaterThanOrEqual(1);
    expect(await readRun(stores.table, 'd1', broken.run_id)).toMatchObject({ status: 'failed' });
  });

  it('ends the other runs when the claim of one is of a newer version, and throws an AggregateError that names the claim', async () => {
    const [newer, orphan] = [await aRunOnNewCvm(stores, 'd1'), await aRunOnNewCvm(stores, 'd1')];
    const key = cvmKeys.claim('d1', newer.cvm_id);
    const claim = { ...keyToWrite(key), ...(await getItem(stores.table, key)) };
    await putItem(stores.table, { ...claim, schema: 2 });
    const sweep = () => sweepRuns(stores.table, lost.executions, byAlice.now, { graceInSeconds: 0 });
    const message = expect.stringContaining(`d1#${newer.cvm_id} cannot be read`) as string;
    const unread = expect.objectContaining({ message }) as Error;
    await expect(sweep()).rejects.toMatchObject({ name: 'AggregateError', errors: [unread] });
    expect(await readRun(stores.table, 'd1', orphan.run_id)).toMatchObject({ status: 'failed' });
    expect(await readRun(stores.table, 'd1', newer.run_id)).toMatchObject({ status: 'running' });
    await putItem(stores.table, claim);
    expect(await sweep()).toBe(1);
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
