import { describe, expect, it } from 'vitest';
import { readEvents } from '../../../shared/events/read-events.ts';
import { executionEnded } from '../../../shared/runs/execution-ended.ts';
import { readRun } from '../../../shared/runs/read-run.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { aRunOnNewCvm, byAlice, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';

const aStartedRun = () => aRunOnNewCvm(stores, domain);

describe('executionEnded', () => {
  it('fails the run whose own execution ended without an outcome, and says how', async () => {
    const run = await aStartedRun();
    const detail = { status: 'ABORTED', input: { action: 'run' as const, ...run } };
    await executionEnded(stores.table, stores.executions, { detail }, byAlice.now);
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({
      status: 'failed',
      reason: 'The execution of the run ended as ABORTED.',
    });
  });

  it('cancels the run whose stop ended without an outcome', async () => {
    const run = await aStartedRun();
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
