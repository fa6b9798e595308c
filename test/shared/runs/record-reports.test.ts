import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { recordReports } from '../../../shared/runs/record-reports.ts';
import type { Report } from '../../../shared/runs/report.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { numberedId } from '../../../shared/identifiers.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { aReadyComputation, aRun, byAlice, endRunWith, startStores, type Stores } from '../../support/builders-store.ts';
import { asReadBefore } from '../../support/interleave.ts';
import { inconsistencies, scan } from '../../support/lifecycle-inconsistencies.ts';

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

const anEvent = (run_id: string, id: string): Report => ({
  id,
  run_id,
  type: 'event',
  event_type: 'Running',
  status: 'InProgress',
  originator: 'agent',
});
const record = (cvmId: string, reports: Report[]) =>
  recordReports(stores.table, stores.executions, { domain, cvmId, reports, now: byAlice.now });
const eventsOf = async (id: string) => (await readEvents(stores.table, id, {}, { limit: 100, offset: 0 })).events;

describe('recordReports', () => {
  it('records a full batch of 50 events in order, and counts its repetition as duplicates', async () => {
    const { id, cvmId, run } = await aStartedRun();
    const reports = Array.from({ length: 50 }, (_, index) => ({ ...anEvent(run, `r${index}`), event_type: `step ${index}` }));
    expect(await record(cvmId, reports)).toEqual({ accepted: 50, duplicates: 0 });
    expect(await record(cvmId, reports)).toEqual({ accepted: 0, duplicates: 50 });
    const types = (await eventsOf(id)).map((event) => event.event_type).filter((type) => type.startsWith('step'));
    expect(types.reverse()).toEqual(reports.map((report) => report.event_type));
  });

  it('throws not_found and records nothing of a batch that names a run of another CVM or an unknown run', async () => {
    const [mine, other] = [await aStartedRun(), await aStartedRun()];
    for (const stranger of [other.run, numberedId(4711), 'no run at all']) {
      const attempt = record(mine.cvmId, [anEvent(mine.run, 'kept?'), anEvent(stranger, 'x')]);
      await expect(attempt).rejects.toMatchObject({ code: 'not_found', extras: { errors: [{ pointer: '/reports/1/run_id' }] } });
    }
    expect((await eventsOf(mine.id)).map((event) => event.event_type)).not.toContain('Running');
  });

  it('records a report once when it arrives several times at the same time and twice in a batch', async () => {
    const { id, cvmId, run } = await aStartedRun();
    const report = anEvent(run, 'same');
    const answers = await Promise.all(Array.from({ length: 6 }, () => record(cvmId, [report, report])));
    expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(1);
    expect((await eventsOf(id)).filter((event) => event.event_type === 'Running')).toHaveLength(1);
  });

  it('records an event after the end of a run that ends after recordReports has read the claim', async () => {
    const { id, cvmId, run } = await aStartedRun();
    await record(cvmId, [anEvent(run, 'accepts the run')]);
    asReadBefore(stores.mortal, cvmKeys.claim(domain, cvmId), () => endRunWith(stores, domain, run));
    const reports = [anEvent(run, 'late')];
    await recordReports(stores.mortal, stores.executions, { domain, cvmId, reports, now: byAlice.now });
    expect((await eventsOf(id)).map(({ event_type }) => event_type).slice(0, 2)).toEqual(['Running', 'completed']);
    const items = await scan(stores.table);
    expect(items.find((item) => item['pk'] === `journal#${id}` && item['sk'] === 'latest')).toMatchObject({
      event_type: 'completed',
    });
    expect(inconsistencies(items)).toEqual([]);
  });

  it('measures how long the CVM took to accept, and the age of the oldest event', async () => {
    const { cvmId, run } = await aStartedRun();
    const reports = [1, 7, 3].map((age) => {
      const occurred_at = new Date(Date.parse(byAlice.now) - age * 1000).toISOString();
      return { ...anEvent(run, `${age} s old`), occurred_at };
    });
    vi.stubEnv('METRICS_NAMESPACE', 'Test');
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const now = new Date(Date.parse(byAlice.now) + 2000).toISOString();
    await recordReports(stores.table, stores.executions, { domain, cvmId, reports, now });
    const metrics = write.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
    write.mockRestore();
    vi.unstubAllEnvs();
    expect(metrics).toMatchObject([{ TimeToAccept: 2000 }, { ReportLag: 9000 }]);
  });

  it('leaves the end of a run as its latest event when other events arrive at the same time', async () => {
    const { id, cvmId, run } = await aStartedRun();
    const late = Array.from({ length: 8 }, (_, index) => record(cvmId, [anEvent(run, `late ${index}`)]));
    await Promise.all([...late, endRunWith(stores, domain, run)]);
    const items = await scan(stores.table);
    expect(items.find((item) => item['pk'] === `journal#${id}` && item['sk'] === 'latest')).toMatchObject({
      event_type: 'completed',
    });
    expect(inconsistencies(items)).toEqual([]);
  });
});
