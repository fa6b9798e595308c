import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it, vi } from 'vitest';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { awaitCvm } from '../../../shared/lifecycle/run-steps.ts';
import { recordReports } from '../../../shared/cvms/record-reports.ts';
import { readClaim } from '../../../shared/rows/claim.ts';
import type { InvalidReport, Report } from '../../../shared/cvms/report.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { cvmKeys, runKeys } from '../../../shared/table/keys.ts';
import { anAgentEvent, aRunOnNewCvm, byAlice, endRunWith, startStores } from '../../support/builders-store.ts';
import { asReadBefore } from '../../support/interleave.ts';
import { inconsistencies, scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { getItem } from '../../../shared/table/table.ts';
import { readRun } from '../../../shared/rows/run.ts';
import { readCvm } from '../../../shared/cvms/read-cvms.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';

const aStartedRun = () => aRunOnNewCvm(stores, domain);

const invalid = (run_id: string): InvalidReport => ({ type: 'invalid', id: 'bad', run_id, detail: 'Expected something.' });
const rejected = (run_id: string, id: string, command_id = 'of another run'): Report => ({
  id,
  run_id,
  type: 'rejected',
  command_id,
  reason: '',
});
const record = (cvmId: string, reports: (Report | InvalidReport)[]) =>
  recordReports(stores.table, stores.executions, { domain, cvmId, reports, now: byAlice.now });
const eventsOf = async (id: string) => (await readEvents(stores.table, id, {}, { limit: 100, offset: 0 })).events;

describe('recordReports', () => {
  it('records a full batch of 50 events in order, and counts its repetition as duplicates', async () => {
    const { computation_id: id, cvm_id: cvmId, run_id: run } = await aStartedRun();
    const reports = Array.from({ length: 50 }, (_, index) => ({
      ...anAgentEvent(run, `r${index}`),
      event_type: `step ${index}`,
    }));
    expect(await record(cvmId, reports)).toMatchObject({ accepted: 50, duplicates: 0 });
    expect(await record(cvmId, reports)).toMatchObject({ accepted: 0, duplicates: 50 });
    const types = (await eventsOf(id)).map((event) => event.event_type).filter((type) => type.startsWith('step'));
    expect(types.reverse()).toEqual(reports.map((report) => report.event_type));
  });

  it.each([
    ['a report', 'marked', 30],
    ['an event that occurs once in a run', 'state:Running/InProgress', 400],
  ])('keeps the mark of %s, %s, for %d days', async (_, id, days) => {
    const { computation_id, cvm_id, run_id } = await aStartedRun();
    await record(cvm_id, [anAgentEvent(run_id, id)]);
    const ttl = Date.parse(byAlice.now) / 1_000 + days * 24 * 3_600;
    const mark = await getItem(stores.table, runKeys.report(computation_id, run_id, id));
    expect(mark).toMatchObject({ seen_at: byAlice.now, ttl });
  });

  it('returns an outcome for each report, in the order of the batch', async () => {
    const { cvm_id: cvmId, run_id: run } = await aStartedRun();
    const heartbeat: Report = { type: 'heartbeat' };
    const reports = [
      anAgentEvent('no run at all', 'a'),
      { type: 'invalid', id: null, detail: 'Expected something.' } as const,
      anAgentEvent(run, 'b'),
      heartbeat,
      { ...heartbeat, id: 'c', run_id: run },
      anAgentEvent(run, 'b'),
      { ...heartbeat, run_id: numberedId(4711) },
    ];
    expect((await record(cvmId, reports)).results).toEqual([
      { id: 'a', outcome: 'unknown_run', run_status: null },
      { id: null, outcome: 'invalid', run_status: null, detail: 'Expected something.' },
      { id: 'b', outcome: 'recorded', run_status: 'running' },
      { id: null, outcome: 'recorded', run_status: null },
      { id: 'c', outcome: 'recorded', run_status: 'running' },
      { id: 'b', outcome: 'duplicate', run_status: 'running' },
      { id: null, outcome: 'unknown_run', run_status: null },
    ]);
  });

  it('returns the status of the run that an invalid report names, if it is on this CVM, and takes only a heartbeat for a sign of life', async () => {
    const [mine, other] = [await aStartedRun(), await aStartedRun()];
    const reference = { domain, computation_id: mine.computation_id, run_id: mine.run_id, cvm_id: mine.cvm_id };
    await awaitCvm(stores.table, stores.executions, { run: reference, task_token: 'token' });
    const before = await scan(stores.table);
    const calls = vi.spyOn(stores.executions.client, 'send');
    const named = [mine.run_id, other.run_id, numberedId(4711), 'no run at all', ''];
    const misdirected = rejected(mine.run_id, 'bad');
    const elsewhere: Report = { type: 'heartbeat', run_id: other.run_id };
    const { results } = await record(mine.cvm_id, [...named.map(invalid), elsewhere, misdirected]);
    expect(results.map(({ run_status }) => run_status)).toEqual(['running', null, null, null, null, null, 'running']);
    expect(calls).not.toHaveBeenCalled();
    const heartbeat: Report = { type: 'heartbeat', run_id: mine.run_id };
    await record(mine.cvm_id, [heartbeat]);
    await record(mine.cvm_id, [heartbeat, misdirected]);
    expect(calls).toHaveBeenCalledTimes(2);
    calls.mockRestore();
    expect(await scan(stores.table)).toEqual(before);
  });

  it('tells an invalid report that its run has ended, alone and beside another report', async () => {
    const { cvm_id: cvmId, run_id: run } = await aStartedRun();
    await endRunWith(stores, domain, run, ['Failed', 'Failed']);
    for (const reports of [[invalid(run)], [invalid(run), anAgentEvent(run, 'late')]]) {
      const { results } = await record(cvmId, reports);
      expect(results[0]).toEqual({ id: 'bad', outcome: 'invalid', run_status: 'failed', detail: 'Expected something.' });
    }
  });

  it('returns the status of a run that has ended, also for a heartbeat', async () => {
    const { cvm_id: cvmId, run_id: run } = await aStartedRun();
    await endRunWith(stores, domain, run, ['Failed', 'Failed']);
    const { results } = await record(cvmId, [{ type: 'heartbeat', run_id: run }, anAgentEvent(run, 'late')]);
    expect(results.map(({ run_status }) => run_status)).toEqual(['failed', 'failed']);
    const [alone] = (await record(cvmId, [{ type: 'heartbeat', run_id: run }])).results;
    expect(alone).toMatchObject({ outcome: 'recorded', run_status: 'failed' });
  });

  it('stores nothing of a heartbeat, which is never a duplicate', async () => {
    const { cvm_id: cvmId, run_id: run } = await aStartedRun();
    const items = await scan(stores.table);
    const heartbeat: Report = { type: 'heartbeat', id: 'same', run_id: run, agent_state: 'Running', fit: 'busy' };
    for (let time = 1; time <= 2; time++) {
      expect(await record(cvmId, [heartbeat, heartbeat])).toMatchObject({ accepted: 2, duplicates: 0 });
    }
    expect(await scan(stores.table)).toEqual(items);
  });

  it('refuses the answer to a command that its run does not have, and takes it corrected under the same identifier', async () => {
    const reference = await aStartedRun();
    const { cvm_id: cvmId, run_id: run } = reference;
    const { run_command_id } = (await readClaim(stores.table, reference)) ?? {};
    const before = await scan(stores.table);
    const wrong = rejected(run, 'r');
    expect(await record(cvmId, [wrong])).toEqual({
      accepted: 0,
      duplicates: 0,
      results: [
        {
          id: 'r',
          outcome: 'invalid',
          run_status: 'running',
          detail: '/command_id: Expected the identifier of a command of this run.',
        },
      ],
    });
    expect(await scan(stores.table)).toEqual(before);

    const { results } = await record(cvmId, [wrong, rejected(run, 'r', run_command_id), wrong]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['invalid', 'recorded', 'duplicate']);
    await endRunWith(stores, domain, run);
    expect(await readRun(stores.table, domain, run)).toMatchObject({ reason: 'The CVM rejected the run.' });
    const late = (await record(cvmId, [rejected(run, 'after the end')])).results;
    expect(late).toEqual([{ id: 'after the end', outcome: 'recorded', run_status: 'failed' }]);
  });

  it('takes the reason of the event that ends the run, and keeps it in the details of an event without details', async () => {
    const { computation_id: id, cvm_id: cvmId, run_id: run } = await aStartedRun();
    const reason = 'exit status 3';
    await record(cvmId, [
      { ...anAgentEvent(run, 'warning'), reason: 'low memory' },
      { ...anAgentEvent(run, 'end'), event_type: 'Failed', status: 'Failed', reason },
    ]);
    await endRunWith(stores, domain, run);
    expect(await readRun(stores.table, domain, run)).toMatchObject({ status: 'failed', reason });
    const warning = (await eventsOf(id)).find((event) => event.event_type === 'Running');
    expect(JSON.parse(Buffer.from(warning?.details ?? '', 'base64').toString())).toEqual({ reason: 'low memory' });
  });

  it('ignores what a heartbeat says that names the run of another CVM or an unknown run', async () => {
    const [mine, other] = [await aStartedRun(), await aStartedRun()];
    const { cvm_id: cvmId } = mine;
    await registerCvm(stores.table, { by: 'root', domain, cvmId, given: { description: '' }, now: byAlice.now });
    const beat = (run_id: string): Report => ({ type: 'heartbeat', run_id, fit: 'spent', agent_state: 'Failed' });
    await record(cvmId, [beat(other.run_id), beat(numberedId(4711))]);
    const { presence } = await readCvm(stores.table, { domain, cvmId }, byAlice.now);
    expect(presence).toMatchObject({ state: 'connected', fit: 'busy', agent_state: null });
    await record(cvmId, [beat(mine.run_id)]);
    expect((await readCvm(stores.table, { domain, cvmId }, byAlice.now)).presence).toMatchObject({ fit: 'spent' });
  });

  it('records an event after the end of a run that ends after recordReports has read the claim', async () => {
    const { computation_id: id, cvm_id: cvmId, run_id: run } = await aStartedRun();
    await record(cvmId, [anAgentEvent(run, 'accepts the run')]);
    asReadBefore(stores.mortal, cvmKeys.claim(domain, cvmId), () => endRunWith(stores, domain, run));
    const reports = [anAgentEvent(run, 'late')];
    await recordReports(stores.mortal, stores.executions, { domain, cvmId, reports, now: byAlice.now });
    expect((await eventsOf(id)).map(({ event_type }) => event_type).slice(0, 2)).toEqual(['Running', 'completed']);
    const items = await scan(stores.table);
    expect(items.find((item) => item['pk'] === `journal#${id}` && item['sk'] === 'latest')).toMatchObject({
      event_type: 'completed',
    });
    expect(inconsistencies(items)).toEqual([]);
  });

  it('records a report that changes nothing of its run in one transaction, also while the run ends', async () => {
    const reference = await aStartedRun();
    const { cvm_id: cvmId, run_id: run } = reference;
    const { run_command_id: command_id = '' } = (await readClaim(stores.table, reference)) ?? {};
    await record(cvmId, [anAgentEvent(run, 'accepts the run')]);
    asReadBefore(stores.mortal, cvmKeys.claim(domain, cvmId), () => endRunWith(stores, domain, run));
    const answer: Report = { id: 'a', run_id: run, type: 'accepted', command_id, reason: '' };
    stores.proxy.reset();
    const given = { domain, cvmId, reports: [answer], now: byAlice.now };
    expect(await recordReports(stores.mortal, stores.executions, given)).toMatchObject({ accepted: 1 });
    expect(stores.proxy.calls.filter(({ operation }) => operation === 'TransactWriteItems')).toHaveLength(1);
  });

  it('measures how long the CVM took to accept, and the age of the oldest event', async () => {
    const { cvm_id: cvmId, run_id: run } = await aStartedRun();
    const reports = [1, 7, 3].map((age) => {
      const occurred_at = new Date(Date.parse(byAlice.now) - age * 1000).toISOString();
      return { ...anAgentEvent(run, `${age} s old`), occurred_at };
    });
    const inLeapSecond = { ...anAgentEvent(run, 'a minute old'), occurred_at: '2025-07-17T07:58:60Z' };
    vi.stubEnv('METRICS_NAMESPACE', 'Test');
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const now = new Date(Date.parse(byAlice.now) + 2000).toISOString();
    for (const batch of [reports, [inLeapSecond]]) {
      await recordReports(stores.table, stores.executions, { domain, cvmId, reports: batch, now });
    }
    const metrics = write.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
    write.mockRestore();
    vi.unstubAllEnvs();
    expect(metrics).toMatchObject([{ TimeToAccept: 2000 }, { ReportLag: 9000 }, { ReportLag: 62_000 }]);
  });
});
