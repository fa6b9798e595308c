import { describe, expect, it } from 'vitest';
import { readEvents } from '../../../shared/events/read-events.ts';
import { recordReports, recordRefusal } from '../../../shared/cvms/record-reports.ts';
import { anAgentEvent, aRunOnNewCvm, byAlice, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';

const aStartedRun = () => aRunOnNewCvm(stores, domain);

async function anAcceptedRun() {
  const started = await aStartedRun();
  const reports = [anAgentEvent(started.run_id, 'accepted')];
  await recordReports(stores.table, stores.executions, { domain, cvmId: started.cvm_id, reports, now: byAlice.now });
  return started;
}

const refuse = (cvmId: string, now: string) =>
  recordRefusal(stores.table, { domain, cvmId, reason: 'The certificate was replaced.', peer: '192.0.2.7:1234', now });

async function refusalsIn(computationId: string) {
  const { events } = await readEvents(stores.table, computationId, {}, { limit: 100, offset: 0 });
  return events.filter(({ event_type }) => event_type === 'StreamRefused');
}

describe('recordRefusal', () => {
  it('records in the journal of the active run why a stream was refused, and where it came from', async () => {
    const { computation_id: id, cvm_id: cvmId, run_id: run } = await anAcceptedRun();
    await refuse(cvmId, '2026-01-01T00:01:30.000Z');
    const [refusal, ...more] = await refusalsIn(id);
    expect(more).toEqual([]);
    expect(refusal).toMatchObject({ run_id: run, status: 'Warning', originator: 'agent' });
    expect(JSON.parse(atob(refusal?.details ?? ''))).toEqual({
      detail: 'The certificate was replaced.',
      peer: '192.0.2.7:1234',
    });
  });

  it('records one refusal an hour', async () => {
    const { computation_id: id, cvm_id: cvmId } = await anAcceptedRun();
    for (const time of ['01:00:00.000', '01:59:59.999', '02:00:00.000', '12:00:00.000'])
      await refuse(cvmId, `2026-01-01T${time}Z`);
    expect(await refusalsIn(id)).toHaveLength(3);
  });

  it('records nothing before the CVM has accepted the run, and nothing for a CVM without a run', async () => {
    const { computation_id: id, cvm_id: cvmId } = await aStartedRun();
    await refuse(cvmId, byAlice.now);
    await refuse('idle', byAlice.now);
    expect(await refusalsIn(id)).toEqual([]);
  });
});
