import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { base64, newCvm, useSession } from '../support/session.ts';

const session = useSession();
const running = { type: 'event', event_type: 'Running', status: 'InProgress' };
const complete = { type: 'event', event_type: 'Complete', status: 'Completed' };

async function startedRun() {
  const id = await session.readyComputation();
  const cvm = newCvm();
  return { id, cvm, run_id: await session.startRun(id, cvm) };
}

const runOf = (id: string) => session.done('runs/get-run', { path: { id } });
const eventsOf = async (id: string, query: Record<string, string> = {}) =>
  (await session.done('events/list-events', { path: { id }, query })).events;
const textOf = (details = '') => Buffer.from(details, 'base64').toString();

describe('what a CVM reports', () => {
  it('is stored as sent, with its originator and in the order of the batch', async () => {
    const { id, cvm, run_id } = await startedRun();
    await session.report(
      cvm,
      { run_id, ...running, originator: 'computation-runner', details: base64('as given') },
      { run_id, ...running, status: 'Completed' },
      { run_id, ...complete },
    );
    await session.untilStatus(id, 'completed');
    const events = await eventsOf(id, { cvm_id: cvm });
    expect(events.map(({ event_type, status, originator }) => [event_type, status, originator]).slice(0, 4)).toEqual([
      ['completed', 'success', 'system'],
      ['Complete', 'Completed', 'agent'],
      ['Running', 'Completed', 'agent'],
      ['Running', 'InProgress', 'computation-runner'],
    ]);
    expect(textOf(events[3]?.details)).toBe('as given');
  });

  it('is ordered by the service’s time, not the CVM’s', async () => {
    const { id, cvm, run_id } = await startedRun();
    const occurred_at = '2001-02-03T04:05:06.789Z';
    await session.report(cvm, { run_id, ...running, occurred_at }, { run_id, ...complete, occurred_at, details: base64('own') });
    const [completed] = await eventsOf(id, { event_type: 'Complete' });
    const [event, ...more] = await eventsOf(id, { event_type: 'Running' });
    expect(JSON.parse(textOf(event?.details))).toEqual({ occurred_at });
    expect(more).toEqual([]);
    expect(textOf(completed?.details)).toBe('own');
    expect((event?.timestamp ?? '') > occurred_at).toBe(true);
    await session.untilStatus(id, 'completed');
  });

  it('counts once when a batch contains it twice', async () => {
    const { id, cvm, run_id } = await startedRun();
    const twice = { id: randomUUID(), run_id, ...running };
    expect(await session.report(cvm, twice, twice)).toMatchObject({ accepted: 1, duplicates: 1 });
    expect(await eventsOf(id, { event_type: 'Running' })).toHaveLength(1);
    await session.report(cvm, { run_id, ...complete });
    await session.untilStatus(id, 'completed');
  });

  it('is accepted for two runs in one batch, one of which has ended', async () => {
    const first = await startedRun();
    await session.endRun(first.cvm);
    const second = await session.readyComputation();
    const run_id = await session.startRun(second, first.cvm);
    const late = { run_id: first.run_id, type: 'event', event_type: 'Running', status: 'Failed' };
    expect(await session.report(first.cvm, late, { run_id, ...complete })).toMatchObject({ accepted: 2, duplicates: 0 });
    await session.untilStatus(second, 'completed');
    const status = await session.done('events/get-status', { path: { id: first.id } });
    expect(status).toMatchObject({ event_type: 'completed', run_id: first.run_id });
    expect(await eventsOf(first.id, { event_type: 'Running' })).toHaveLength(1);
  });
});

describe('a run', () => {
  it('ends with the first outcome of a batch; the second one is only recorded as an event', async () => {
    const { id, cvm, run_id } = await startedRun();
    await session.report(cvm, { run_id, type: 'event', event_type: 'Failed', status: 'Failed' }, { run_id, ...complete });
    await session.untilStatus(id, 'failed');
    expect(await runOf(id)).toMatchObject({ id: run_id, status: 'failed', reason: 'The CVM failed.' });
    const ends = (await eventsOf(id, { run_id })).filter(({ originator }) => originator === 'system');
    expect(ends.map(({ event_type }) => event_type)).toEqual(['failed']);
  });

  it('stays active after events that are no outcome, and after answers to commands that it does not have', async () => {
    const { id, cvm, run_id } = await startedRun();
    const { results } = await session.report(
      cvm,
      ...['Failed', 'Stopped', 'Ready'].map((status) => ({ run_id, ...running, status })),
      { run_id, type: 'accepted', command_id: randomUUID() },
      { run_id, type: 'rejected', command_id: randomUUID() },
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(['recorded', 'recorded', 'recorded', 'invalid', 'invalid']);
    expect((await runOf(id)).status).toBe('running');
    await session.report(cvm, { run_id, ...complete });
    await session.untilStatus(id, 'completed');
  });

  it('that no CVM has accepted is cancelled with a reason when the CVM rejects its stop', async () => {
    const { id, cvm, run_id } = await startedRun();
    await session.commandFor(cvm, 'run');
    await session.done('runs/stop-run', { path: { id } });
    const stop = await session.commandFor(cvm, 'stop');
    expect(stop).toMatchObject({ type: 'stop', run_id, computation_id: id });
    expect(stop).not.toHaveProperty('manifest');
    expect(stop).not.toHaveProperty('agent_config');
    await session.report(cvm, { run_id, type: 'rejected', command_id: stop.id, reason: 'Unknown run.' });
    await session.untilStatus(id, 'cancelled');
    expect((await runOf(id)).reason).toBe('Stopped; the CVM rejected the stop: Unknown run.');
  });

  it('is completed when its CVM completes it after a stop was requested', async () => {
    const { id, cvm, run_id } = await startedRun();
    await session.report(cvm, { run_id, ...running });
    await session.done('runs/stop-run', { path: { id } });
    await session.report(cvm, { run_id, ...complete });
    await session.untilStatus(id, 'completed');
    const events = (await eventsOf(id, { run_id })).map(({ event_type }) => event_type);
    expect(events).toEqual(['completed', 'Complete', 'stop_requested', 'Running', 'started']);
  });

  it('leaves its CVM free and without commands when it ends', async () => {
    const { cvm } = await startedRun();
    await session.endRun(cvm);
    expect(await session.done('cvms/list-commands', { path: { cvmID: cvm }, as: 'cvm' })).toEqual({ commands: [], run: null });
    const next = await session.readyComputation();
    await session.startRun(next, cvm);
    await session.endRun(cvm);
  });
});

describe('the manifest of a sample', () => {
  it('contains the checksum of the real file, which was never sent', async () => {
    const id = await session.readyComputation();
    const checksum = createHash('sha3-256').update('the real file').digest('hex');
    const { id: assetId, upload } = await session.createAsset({ file_name: 'real.csv', asset: undefined, checksum });
    await session.link(assetId, id);
    const missing = await session.done('runs/dry-run', { path: { id } });
    expect(missing.missing_items.hashes).toEqual(['real.csv']);
    const { method, url, headers } = upload ?? { method: '', url: '', headers: {} };
    await fetch(url, { method, headers, body: 'a sample' });
    const ready = async () => (await session.done('runs/dry-run', { path: { id } })).missing_items.hashes;
    await expect.poll(ready).toEqual([]);
    const { datasets } = await session.done('runs/get-manifest', { path: { id } });
    expect(datasets).toMatchObject([{ hash: [...Buffer.from(checksum, 'hex')], filename: 'real.csv' }]);
  });
});
