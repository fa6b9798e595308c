import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEvents } from '../../../shared/events/read-events.ts';
import { journalRefusal } from '../../../shared/runs/journal-refusal.ts';
import { recordReports } from '../../../shared/runs/record-reports.ts';
import type { Report } from '../../../shared/runs/report.ts';
import { aReadyComputation, aRun, byAlice, startStores, type Stores } from '../../support/builders-store.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores.stop());

const domain = 'd1';
let cvms = 0;

async function aStartedRun() {
  const { id } = await aReadyComputation(stores, domain);
  const cvmId = `cvm-${++cvms}`;
  return { id, cvmId, run: await aRun(stores, domain, id, cvmId) };
}

async function anAcceptedRun() {
  const started = await aStartedRun();
  const accepting: Report = {
    id: 'accepted',
    run_id: started.run,
    type: 'event',
    event_type: 'Running',
    status: 'InProgress',
    originator: 'agent',
  };
  await recordReports(stores.table, stores.executions, { domain, cvmId: started.cvmId, reports: [accepting], now: byAlice.now });
  return started;
}

const refuse = (cvmId: string, now: string) =>
  journalRefusal(stores.table, { domain, cvmId, reason: 'The certificate was replaced.', peer: '192.0.2.7:1234', now });

async function refusalsIn(computationId: string) {
  const { events } = await readEvents(stores.table, computationId, {}, { limit: 100, offset: 0 });
  return events.filter(({ event_type }) => event_type === 'StreamRefused');
}

describe('journalRefusal', () => {
  it('records in the journal of the active run why a stream was refused, and where it came from', async () => {
    const { id, cvmId, run } = await anAcceptedRun();
    await refuse(cvmId, '2026-01-01T00:01:30.000Z');
    const [refusal, ...more] = await refusalsIn(id);
    expect(more).toEqual([]);
    expect(refusal).toMatchObject({ run_id: run, status: 'Warning', originator: 'agent' });
    expect(JSON.parse(atob(refusal?.details ?? ''))).toEqual({
      detail: 'The certificate was replaced.',
      peer: '192.0.2.7:1234',
    });
  });

  it('records one refusal a minute', async () => {
    const { id, cvmId } = await anAcceptedRun();
    for (const time of ['00:01:00.000', '00:01:59.999', '00:02:00.000', '00:11:00.000'])
      await refuse(cvmId, `2026-01-01T${time}Z`);
    expect(await refusalsIn(id)).toHaveLength(3);
  });

  it('records nothing before the CVM has accepted the run, and nothing for a CVM without a run', async () => {
    const { id, cvmId } = await aStartedRun();
    await refuse(cvmId, byAlice.now);
    await refuse('idle', byAlice.now);
    expect(await refusalsIn(id)).toEqual([]);
  });
});
