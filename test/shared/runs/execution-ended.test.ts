import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEvents } from '../../../shared/events/read-events.ts';
import { executionEnded } from '../../../shared/runs/execution-ended.ts';
import { readRun } from '../../../shared/runs/read-run.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { aReadyComputation, aRun, byAlice, startStores, type Stores } from '../../support/builders-store.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores.stop());

const domain = 'd1';

async function aStartedRun(cvm_id: string) {
  const { id } = await aReadyComputation(stores, domain);
  return { domain, computation_id: id, run_id: await aRun(stores, domain, id, cvm_id), cvm_id };
}

describe('executionEnded', () => {
  it('fails the run whose own execution ended without an outcome, and says how', async () => {
    const run = await aStartedRun('cvm-1');
    const detail = { status: 'ABORTED', input: { action: 'run' as const, ...run } };
    await executionEnded(stores.table, stores.executions, { detail }, byAlice.now);
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({
      status: 'failed',
      reason: 'The execution of the run ended as ABORTED.',
    });
  });

  it('cancels the run whose stop ended without an outcome', async () => {
    const run = await aStartedRun('cvm-2');
    await stopRun(stores.table, stores.executions, { domain, computationId: run.computation_id, ...byAlice });
    const detail = { status: 'FAILED', input: { action: 'stop' as const, ...run } };
    await executionEnded(stores.table, stores.executions, { detail }, byAlice.now);
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({
      status: 'cancelled',
      reason: 'Stopped; no CVM confirmed it in time.',
    });
    const { events } = await readEvents(stores.table, run.computation_id, {}, { limit: 1, offset: 0 });
    const [last] = events;
    expect(JSON.parse(Buffer.from(String(last?.details), 'base64').toString())).toMatchObject({ confirmed: false });
  });
});
