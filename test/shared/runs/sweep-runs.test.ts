import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRun } from '../../../shared/runs/read-run.ts';
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
      return sweepRuns(stores.table, lost.executions, now, graceInSeconds);
    };
    expect(await sweepAfter(59_999)).toBe(0);
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({ status: 'running' });
    expect(await sweepAfter(60_000)).toBe(1);
    expect(await readRun(stores.table, 'd1', run)).toMatchObject({ status: 'failed' });
  });
});
