import { describe, expect, it } from 'vitest';
import { readEvents } from '../../../shared/events/read-events.ts';
import { executionEnded } from '../../../shared/runs/end-run.ts';
import { readRun } from '../../../shared/computations/read-run.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { aRunOnNewCvm, byAlice, startStores } from '../../support/builders-store.ts';
import { aResumedRun } from '../../support/resumed-run.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';

const aStartedRun = () => aRunOnNewCvm(stores, domain);

describe('executionEnded', () => {
  it('fails the run whose own execution ended without an outcome, and says how', async () => {
    const run = await aStartedRun();
    const detail = { name: `run-${run.run_id}`, status: 'ABORTED', input: { action: 'run' as const, ...run } };
    await executionEnded(stores.table, stores.executions, { detail }, byAlice.now);
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({
      status: 'failed',
      reason: 'The execution of the run ended as ABORTED.',
    });
  });

  it('cancels the run whose stop ended without an outcome', async () => {
    const run = await aStartedRun();
    await stopRun(stores.table, stores.executions, { domain, computationId: run.computation_id, ...byAlice });
    const detail = { name: `stop-${run.run_id}`, status: 'FAILED', input: { action: 'stop' as const, ...run } };
    await executionEnded(stores.table, stores.executions, { detail }, byAlice.now);
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({
      status: 'cancelled',
      reason: 'Stopped; no CVM confirmed it in time.',
    });
    const { events } = await readEvents(stores.table, run.computation_id, {}, { limit: 1, offset: 0 });
    const [last] = events;
    expect(JSON.parse(Buffer.from(String(last?.details), 'base64').toString())).toMatchObject({ confirmed: false });
  });

  it('leaves a run that was resumed as it is when the end of an earlier execution becomes known, and ends it with the present one', async () => {
    const run = await aResumedRun(stores, domain);
    const end = (name: string, action: 'run' | 'stop') =>
      executionEnded(
        stores.table,
        stores.executions,
        { detail: { name, status: 'ABORTED', input: { action, ...run } } },
        byAlice.now,
      );
    const status = async () => (await readRun(stores.table, domain, run.run_id))?.status;
    await end(`run-${run.run_id}`, 'run');
    expect(await status()).toBe('running');
    await stopRun(stores.table, stores.executions, { domain, computationId: run.computation_id, ...byAlice });
    await end(`stop-${run.run_id}`, 'stop');
    expect(await status()).toBe('stopping');
    await end(`stop-${run.run_id}-1`, 'stop');
    expect(await status()).toBe('cancelled');
  });
});
