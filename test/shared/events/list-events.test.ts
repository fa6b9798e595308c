import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { watchEvents } from '../../../shared/events/list-events.ts';
import { startRun } from '../../../shared/runs/start-run.ts';
import { anEvent, appendToJournal } from '../../support/append-to-journal.ts';
import { aReadyComputation, byAlice, startStores } from '../../support/builders-store.ts';
import { patientClock } from '../../support/patience.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const started = '2025-07-17T09:00:00.000Z';
const atOnce = { clock: patientClock, endsAt: 0, endpoint: 'listEvents', domain, perStage: 1, perDomain: 1 };

/** Creates a computation with the events of earlier runs, and starts a run of it. */
async function aRunAfter(eventsBefore: number) {
  const { id } = await aReadyComputation(stores, domain);
  const earlier = Array.from({ length: eventsBefore }, (_, at) => anEvent({ run_id: randomUUID(), status: `Part${at}` }));
  await appendToJournal(stores.table, id, earlier);
  const cvmId = `cvm-${eventsBefore}`;
  const { runId } = await startRun(stores.table, stores.executions, {
    domain,
    computationId: id,
    cvmId,
    ...byAlice,
    now: started,
  });
  await appendToJournal(stores.table, id, [anEvent({ run_id: runId }), anEvent({ run_id: '' })], started);
  const watch = async (filter: { run_id?: string; from?: string }) => {
    stores.proxy.reset();
    return await watchEvents(stores.mortal, { domain, id }, filter, { after: '', limit: 10 }, atOnce);
  };
  return { runId, watch, units: () => stores.proxy.readUnits() };
}

describe('watchEvents', () => {
  it('reads no index segments of earlier runs if it watches one run', async () => {
    const { runId, watch, units } = await aRunAfter(3_000);
    const { events, total } = await watch({ run_id: runId });
    expect([events.map(({ event_type }) => event_type), total]).toEqual([['started', 'Running'], 2]);
    expect(units()).toBeLessThanOrEqual(15);
  });

  it('finds the events of a run that belongs to the first ones of the journal', async () => {
    const { runId, watch } = await aRunAfter(0);
    expect(await watch({ run_id: runId })).toMatchObject({ total: 2, events: [{ run_id: runId }, { run_id: runId }] });
    expect(await watch({ run_id: runId, from: '2025-07-17T09:00:00.001Z' })).toMatchObject({ total: 0, events: [] });
  });

  it('finds nothing for a run that does not exist', async () => {
    const { watch } = await aRunAfter(1);
    expect(await watch({ run_id: '00000000-0fff-8c3a-9f0e-2b7d41c5e6a8' })).toMatchObject({ total: 0, events: [] });
  });
});
