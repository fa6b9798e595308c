import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { base64, itAs, newCvm, publicKey, useSession } from '../support/session.ts';
import { untilTestEnds } from '../support/patience.ts';
import { privateKey } from '../support/suite-state.ts';

const session = useSession();
const start = 'runs/start-run';
const stop = 'runs/stop-run';
const getRun = 'runs/get-run';
const dryRun = 'runs/dry-run';
const manifestOf = 'runs/get-manifest';
const report = 'cvms/report';
const absent = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
const complete = { type: 'event', event_type: 'Complete', status: 'Completed' };

const sha3 = (content: string) => [...createHash('sha3-256').update(content).digest()];
const nothing = { keys: [], hashes: [], info: [] };

describe('a dry run', () => {
  it('lists what is missing, and less after each addition', async () => {
    const me = session.target.idOf('administrator');
    const { id } = await session.createComputation({ agent_config: { server_key: privateKey() } });
    const missing = async () => (await session.done(dryRun, { path: { id } })).missing_items;
    const keyAlone = 'agent_config.server_key is set without agent_config.cert_file';
    expect(await missing()).toEqual({ keys: [me], hashes: [], info: ['Missing algorithm', keyAlone] });

    const algorithm = await session.createAsset({ asset_type: 'algorithm', file_name: 'a.py', asset: undefined });
    await session.link(algorithm.id, id);
    expect(await missing()).toEqual({ keys: [me], hashes: ['a.py'], info: [keyAlone] });

    await session.done('computations/update-computation', { path: { id }, body: { name: 'N' } });
    const content = { file_name: 'a.py', asset_type: 'algorithm', asset: base64('print(1)') };
    await session.done('assets/update-asset', { path: { id: algorithm.id }, body: { asset: content } });
    expect(await missing()).toEqual({ ...nothing, keys: [me] });

    await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() } });
    expect(await missing()).toEqual(nothing);
  });

  it('lists a certificate without its key as missing', async () => {
    const { id } = await session.createComputation({ agent_config: { cert_file: 'cert' } });
    const { missing_items } = await session.done(dryRun, { path: { id } });
    expect(missing_items.info).toContain('agent_config.cert_file is set without agent_config.server_key');
  });
});

describe('start a run', () => {
  it('answers 200 with the id of the run as a JSON string', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const request = { path: { id }, query: { cvm }, headers: { 'idempotency-key': randomUUID() } };
    // The first start of a process may take longer than its deadline on a busy machine: clients repeat a 503.
    const answer = async () => {
      const { status, body } = await session.call(start, request);
      return [status, body];
    };
    await expect.poll(answer, untilTestEnds).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    await session.endRun(cvm);
  });

  it('answers 422 with the missing items of the dry run when the computation is incomplete', async () => {
    const { id } = await session.createComputation();
    const { missing_items } = await session.done(dryRun, { path: { id } });
    const refused = await session.refused(start, { path: { id }, query: { cvm: newCvm() } });
    expect(refused).toMatchObject({ status: 422, code: 'incomplete', missing_items });
    expect((await session.refused(getRun, { path: { id } })).code).toBe('not_found');
  });

  it('answers 409 with the id of the run that is active on the computation or on the CVM', async () => {
    const [id, other] = [await session.readyComputation(), await session.readyComputation()];
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    const again = await session.refused(start, { path: { id }, query: { cvm: newCvm() } });
    expect(again).toMatchObject({ status: 409, code: 'conflict', reason: 'run_active', run_id });
    const elsewhere = await session.refused(start, { path: { id: other }, query: { cvm } });
    expect(elsewhere).toMatchObject({ status: 409, code: 'conflict', reason: 'cvm_busy', run_id });
    await session.endRun(cvm);
    await session.startRun(other, cvm);
    await session.endRun(cvm);
  });

  it.each([
    ['no CVM', {}],
    ['an empty CVM name', { cvm: '' }],
    ['a CVM name with a slash', { cvm: 'a/b' }],
    ['a CVM name of 65 characters', { cvm: 'x'.repeat(65) }],
    ['the CVM name .., which no URL can contain', { cvm: '..' }],
  ])('answers 400 to %s', async (_what, query: Record<string, string>) => {
    const id = await session.someComputation();
    const { status, errors } = await session.refused(start, { path: { id }, query });
    expect([status, errors?.[0]?.pointer]).toEqual([400, 'query/cvm']);
  });

  it('starts another run after one that completed, failed or was cancelled', async () => {
    const id = await session.readyComputation();
    const endings = [
      ['completed', { event_type: 'ConsumingResults', status: 'Ready' }],
      ['failed', { event_type: 'Failed', status: 'Failed' }],
      ['cancelled', { event_type: 'Stopped', status: 'Stopped' }],
    ] as const;
    for (const [status, event] of endings) {
      const cvm = newCvm();
      const run_id = await session.startRun(id, cvm);
      await session.endRun(cvm, event);
      expect(await session.done(getRun, { path: { id } })).toMatchObject({ id: run_id, status, cvm_id: cvm });
    }
  });
});

describe('read runs', () => {
  it('lists those of a computation or with a status, or both, and their exact total', async () => {
    const [one, other] = [await session.readyComputation(), await session.readyComputation()];
    const [first, second, third] = [newCvm(), newCvm(), newCvm()];
    const ended = await session.startRun(one, first);
    await session.endRun(first);
    const active = await session.startRun(one, second);
    await session.startRun(other, third);
    const runsOf = async (query: Record<string, string>) => {
      const { runs, total } = await session.done('runs/list-runs', { query });
      return [runs.map(({ id }) => id), total];
    };
    expect(await runsOf({ computation_id: one })).toEqual([[active, ended], 2]);
    expect(await runsOf({ computation_id: one, status: 'completed' })).toEqual([[ended], 1]);
    expect(await runsOf({ computation_id: one, status: 'running', offset: '1' })).toEqual([[], 1]);
    const { runs } = await session.done('runs/list-runs', { query: { status: 'running' } });
    expect(runs.map(({ id }) => id)).toContain(active);
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['running']));
    for (const cvm of [second, third]) await session.endRun(cvm);
  });

  it.each([
    ['no computation', absent],
    ['no identifier that was ever issued', randomUUID()],
    ['what is no identifier', 'latest'],
    ['an empty identifier', ''],
  ])('lists none of %s', async (_, computation_id) => {
    const { runs, total } = await session.done('runs/list-runs', { query: { computation_id } });
    expect([runs, total]).toEqual([[], 0]);
  });

  it('answers with the latest run, or the one that is named, and 404 when there is none', async () => {
    const id = await session.readyComputation();
    expect(await session.refused(getRun, { path: { id } })).toMatchObject({ status: 404, code: 'not_found' });
    const [first, second] = [newCvm(), newCvm()];
    const older = await session.startRun(id, first);
    expect(await session.done(getRun, { path: { id } })).toEqual({
      id: older,
      computation_id: id,
      cvm_id: first,
      status: 'running',
      started_by: session.target.idOf('administrator'),
      started_at: expect.any(String),
      ended_at: null,
      reason: null,
      reason_code: null,
      result: null,
      manifest_digest: await session.digestOf(id),
      configuration_digest: (await session.digestsOf(id)).configuration_digest,
    });
    await session.endRun(first);
    const latest = await session.startRun(id, second);
    expect(await session.done(getRun, { path: { id } })).toMatchObject({ id: latest, status: 'running' });
    expect(await session.done(getRun, { path: { id }, query: { run: older } })).toMatchObject({
      id: older,
      status: 'completed',
      ended_at: expect.any(String),
      reason: 'The CVM finished the run.',
    });
    await session.endRun(second, { event_type: 'Failed', status: 'Failed' });

    const { id: other } = await session.createComputation();
    for (const run of [older, absent, 'nonsense']) {
      expect((await session.refused(getRun, { path: { id: other }, query: { run } })).code).toBe('not_found');
    }
  });

  it('is found by identifiers in upper case, in a path and in a query', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run = await session.startRun(id, cvm);
    await session.endRun(cvm);
    const path = { id: id.toUpperCase() };
    const upper = run.toUpperCase();
    expect([path.id, upper]).not.toEqual([id, run]);
    expect(await session.done(getRun, { path, query: { run: upper } })).toMatchObject({ id: run, computation_id: id });
    expect(await session.done(manifestOf, { path, query: { run: upper } })).toMatchObject({ id });
    expect(await session.done('evidence/get-evidence', { path, query: { run: upper } })).toMatchObject({
      statement: { run: { id: run } },
    });
    expect(await session.done('runs/list-runs', { query: { computation_id: path.id } })).toMatchObject({ runs: [{ id: run }] });
    const { events } = (await session.done('events/list-events', { path, query: { run_id: upper } })) as {
      events: { id: string }[];
    };
    expect(events.length).toBeGreaterThan(1);
    const after = events.at(-1)?.id.toUpperCase() ?? '';
    expect(await session.done('events/list-events', { path, query: { after } })).toMatchObject({ total: expect.any(Number) });
  });

  it('lists the runs of the domain, newest first', async () => {
    const { total: before } = await session.done('runs/list-runs', {});
    const id = await session.readyComputation();
    const ids: string[] = [];
    for (const cvm of [newCvm(), newCvm()]) {
      ids.unshift(await session.startRun(id, cvm));
      await session.endRun(cvm);
    }
    const { runs, ...page } = await session.done('runs/list-runs', { query: { limit: 2 } });
    expect(page).toEqual({ limit: 2, offset: 0, total: before + 2 });
    expect(runs.map((run) => run.id)).toEqual(ids);
    expect(runs[0]).toEqual(await session.done(getRun, { path: { id } }));
    const { runs: beyond } = await session.done('runs/list-runs', { query: { offset: before + 2 } });
    expect(beyond).toEqual([]);
  });
});

describe('stop a run', () => {
  it('answers with the run as stopping, by POST and GET alike, until the CVM confirms and the run is cancelled', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    const { id: runCommand } = await session.commandFor(cvm, 'run');
    await session.report(cvm, { run_id, type: 'accepted', command_id: runCommand });

    const first = await session.call(stop, { path: { id }, method: 'POST' });
    expect(first.body).toMatchObject({ id: run_id, status: 'stopping', ended_at: null });
    expect(first.headers.get('cache-control')).toBe('no-store');
    const second = await session.call(stop, { path: { id }, method: 'GET' });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('cache-control')).toBe('no-store');

    const command = await session.commandFor(cvm, 'stop');
    expect(command).toMatchObject({ type: 'stop', run_id, computation_id: id });
    expect(command).not.toHaveProperty('manifest');
    expect(command).not.toHaveProperty('agent_config');
    await session.report(
      cvm,
      { run_id, type: 'accepted', command_id: command.id },
      { run_id, type: 'event', event_type: 'Stopped', status: 'Stopped' },
    );
    await session.untilStatus(id, 'cancelled');
    expect((await session.done(getRun, { path: { id } })).reason).toBe('Stopped; the CVM confirmed it.');
    const { events } = await session.done('events/list-events', { path: { id }, query: { event_type: 'stop_requested' } });
    expect(events).toHaveLength(1);
  });

  it('answers 409 before the first run and after its end', async () => {
    const id = await session.readyComputation();
    const nothingToStop = { status: 409, code: 'conflict', reason: 'nothing_to_stop' };
    expect(await session.refused(stop, { path: { id } })).toMatchObject(nothingToStop);
    const cvm = newCvm();
    await session.startRun(id, cvm);
    await session.endRun(cvm);
    expect(await session.refused(stop, { path: { id }, method: 'GET' })).toMatchObject(nothingToStop);
  });

  itAs(['runner', 'creator', 'editor'], 'is allowed to runners and the owner only, as is its start', async () => {
    const id = await session.readyComputation({ owner: session.target.idOf('creator') });
    await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as: 'creator' });
    expect((await session.refused(start, { path: { id }, query: { cvm: newCvm() }, as: 'editor' })).code).toBe('forbidden');
    for (const as of ['runner', 'creator'] as const) {
      const cvm = newCvm();
      const run_id = await session.done(start, { path: { id }, query: { cvm }, as });
      expect((await session.refused(stop, { path: { id }, as: 'editor' })).code).toBe('forbidden');
      expect((await session.done(stop, { path: { id }, as })).status).toBe('stopping');
      await session.report(cvm, { run_id, type: 'event', event_type: 'Stopped', status: 'Stopped' });
      await session.untilStatus(id, 'cancelled');
      expect((await session.done(getRun, { path: { id } })).started_by).toBe(session.target.idOf(as));
    }
  });
});

describe('the manifest', () => {
  it('has 32-byte hashes, DER keys and ordered datasets', async () => {
    const id = await session.readyComputation({ description: 'D' });
    const key = publicKey();
    const names = ['z.csv', 'a.csv', 'm.csv'];
    const spki: string[] = [];
    for (const file_name of names) {
      const asset = await session.createAsset({ file_name, asset: base64(file_name), user_key: key });
      spki.push(asset.user_key);
      await session.link(asset.id, id);
    }
    const manifest = await session.done(manifestOf, { path: { id } });
    expect(manifest).toEqual({
      id,
      name: 'End to end',
      description: 'D',
      datasets: names.map((filename, index) => ({ hash: sha3(filename), user_key: spki[index], filename })),
      algorithm: { hash: sha3('a,b\n'), user_key: expect.stringMatching(/^MCow/) },
      result_consumers: [{ user_key: manifest.algorithm.user_key }],
    });
  });

  it('is 422 while the computation is incomplete', async () => {
    const { id } = await session.createComputation();
    const refused = await session.refused(manifestOf, { path: { id } });
    expect(refused).toMatchObject({ status: 422, code: 'incomplete', missing_items: { info: ['Missing algorithm'] } });
  });

  it('of a run stays as it was at the start', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run = await session.startRun(id, cvm);
    const before = await session.done(manifestOf, { path: { id } });
    const data = await session.createAsset();
    await session.link(data.id, id);
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed' } });

    expect(await session.done(manifestOf, { path: { id }, query: { run } })).toEqual(before);
    expect(await session.done(manifestOf, { path: { id } })).toMatchObject({
      name: 'Renamed',
      datasets: [{ filename: data.file_name }],
    });
    expect((await session.commandFor(cvm, 'run')).manifest).toEqual(before);
    await session.endRun(cvm);
    for (const none of [absent, 'x'.repeat(1_100)]) {
      expect((await session.refused(manifestOf, { path: { id }, query: { run: none } })).code).toBe('not_found');
    }
  });

  itAs(
    ['result_consumer', 'viewer', 'creator'],
    'names the owner and result consumers with a key as consumers, nobody else',
    async () => {
      const id = await session.readyComputation({ owner: session.target.idOf('creator') });
      const keys = { creator: publicKey(), result_consumer: publicKey(), viewer: publicKey() };
      for (const as of ['viewer', 'result_consumer', 'creator'] as const) {
        await session.done('keys/upload-key', { path: { id }, body: { key: keys[as] }, as });
      }
      const der = (key: string) => Buffer.from(key, 'base64').toString().split('\n').slice(1, -2).join('');
      const { result_consumers } = await session.done(manifestOf, { path: { id } });
      expect(result_consumers).toEqual([{ user_key: der(keys.creator) }, { user_key: der(keys.result_consumer) }]);
    },
  );
});

describe('the commands of a CVM', () => {
  it('offer the run with its manifest and the whole agent_config, until it is accepted', async () => {
    const agent_config = { log_level: 'info', server_key: privateKey(), cert_file: 'a cert' };
    const id = await session.readyComputation({ agent_config });
    const cvm = newCvm();
    expect(await session.done('cvms/list-commands', { path: { cvmID: cvm }, as: 'cvm' })).toMatchObject({ commands: [] });
    const run_id = await session.startRun(id, cvm);
    const command = await session.commandFor(cvm, 'run');
    expect(command).toEqual({
      id: expect.any(String),
      type: 'run',
      run_id,
      computation_id: id,
      issued_at: expect.any(String),
      expires_at: expect.any(String),
      manifest: await session.done(manifestOf, { path: { id } }),
      agent_config: { ...agent_config, server_ca_file: '', client_ca_file: '', attested_tls: false },
    });
    expect(command.expires_at > command.issued_at).toBe(true);
    expect(await session.commandFor(cvm, 'run')).toEqual(command);
    await session.report(cvm, { run_id, type: 'accepted', command_id: command.id });
    expect(await session.done('cvms/list-commands', { path: { cvmID: cvm }, as: 'cvm' })).toMatchObject({ commands: [] });
    await session.report(cvm, { run_id, ...complete });
    await session.untilStatus(id, 'completed');
  });

  itAs(['viewer', 'runner'], 'are refused to viewers and runners with 403', async () => {
    for (const as of ['viewer', 'runner'] as const) {
      expect((await session.refused('cvms/list-commands', { path: { cvmID: newCvm() }, as })).code).toBe('forbidden');
    }
  });
});

describe('the reports of a CVM', () => {
  it('are counted once when they are sent again', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    const { id: command_id } = await session.commandFor(cvm, 'run');
    const running = { id: 'r-2', run_id, type: 'event', event_type: 'Running', status: 'InProgress', details: base64('{"a":1}') };
    const accepted = { id: 'r-1', run_id, type: 'accepted', command_id };
    expect(await session.report(cvm, accepted, running)).toMatchObject({ accepted: 2, duplicates: 0 });
    expect(await session.report(cvm, accepted, running)).toMatchObject({ accepted: 0, duplicates: 2 });
    const heartbeats = [{ id: 'r-3', run_id, type: 'heartbeat' }, { id: 'r-3', run_id, type: 'heartbeat' }, running];
    expect(await session.report(cvm, ...heartbeats)).toMatchObject({ accepted: 2, duplicates: 1 });
    const ended = { ...complete, id: 'r-4', run_id };
    expect(await session.report(cvm, ended)).toMatchObject({ accepted: 1, duplicates: 0 });
    await session.untilStatus(id, 'completed');
    expect(await session.report(cvm, ended)).toMatchObject({ accepted: 0, duplicates: 1 });
    const { events } = await session.done('events/list-events', { path: { id }, query: { run_id } });
    expect(events.map((event) => event.event_type)).toEqual(['completed', 'Complete', 'Running', 'started']);
    expect(events[2]).toMatchObject({ originator: 'agent', cvm_id: cvm, details: base64('{"a":1}') });
  });

  it('are recorded after the end, whose outcome stays', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    await session.endRun(cvm);
    const late = { run_id, type: 'event', event_type: 'Running', status: 'Failed' };
    expect(await session.report(cvm, late)).toMatchObject({ accepted: 1, duplicates: 0 });
    expect((await session.done(getRun, { path: { id } })).status).toBe('completed');
    const { events } = await session.done('events/list-events', { path: { id }, query: { event_type: 'Running' } });
    expect(events).toHaveLength(1);
  });

  it('fail a run with their reason when they reject it', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    const { id: command_id } = await session.commandFor(cvm, 'run');
    await session.report(cvm, { run_id, type: 'rejected', command_id, reason: 'No memory.' });
    await session.untilStatus(id, 'failed');
    expect((await session.done(getRun, { path: { id } })).reason).toContain('No memory.');
  });

  it('have no effect on a run of another CVM', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    const send = async (cvmID: string, ...ids: string[]) => {
      const reports = ids.map((run) => ({ run_id: run, type: 'event', event_type: 'Running', status: 'InProgress' }));
      return (await session.report(cvmID, ...reports)).results.map(({ outcome, run_status }) => [outcome, run_status]);
    };
    expect(await send(newCvm(), run_id)).toEqual([['unknown_run', null]]);
    const ofTheSameRow = `${run_id.slice(0, 13)}${absent.slice(13)}`;
    for (const none of [absent, ofTheSameRow]) {
      expect(await send(cvm, none, run_id)).toEqual([
        ['unknown_run', null],
        ['recorded', 'running'],
      ]);
    }
    await session.report(cvm, { run_id, ...complete });
    await session.untilStatus(id, 'completed');
    const { events } = await session.done('events/list-events', { path: { id }, query: { event_type: 'Running' } });
    expect(events.map((event) => event.cvm_id)).toEqual([cvm, cvm]);
  });

  it.each([
    ['none', []],
    ['51', Array.from({ length: 51 }, (_, id) => ({ id: String(id), run_id: absent, type: 'heartbeat' }))],
  ])('are refused with 400 when they are: %s', async (_what, reports) => {
    const { status, errors } = await session.refused(report, { path: { cvmID: newCvm() }, body: { reports }, as: 'cvm' });
    expect([status, errors?.[0]?.pointer]).toEqual([400, '/reports']);
  });

  it.each([
    ['an unknown type', { id: '1', run_id: absent, type: 'shout' }, '/type'],
    ['no identifier', { run_id: absent, ...complete }, '/id'],
    ['the originator system', { id: '1', run_id: absent, ...complete, originator: 'system' }, '/originator'],
    ['the originator alice', { id: '1', run_id: absent, ...complete, originator: 'alice' }, '/originator'],
    ['an end of the service', { id: '1', run_id: absent, ...complete, event_type: 'cancelled' }, '/event_type'],
    ['a user’s event', { id: '1', run_id: absent, ...complete, event_type: 'key_uploaded' }, '/event_type'],
    ['an event of gateways', { id: '1', run_id: absent, ...complete, event_type: 'Attestation' }, '/event_type'],
    ['one that looks like it', { id: '1', run_id: absent, ...complete, event_type: 'reconnected' }, '/event_type'],
    ['details that are no base64', { id: '1', run_id: absent, ...complete, details: '%' }, '/details'],
    ['an unknown field', { id: '1', run_id: absent, type: 'heartbeat', x: 1 }, '/x'],
  ])('are invalid with: %s', async (_what, entry, pointer) => {
    const { results } = await session.done(report, { path: { cvmID: newCvm() }, body: { reports: [entry] }, as: 'cvm' });
    const id = 'id' in entry ? entry.id : null;
    expect(results).toEqual([{ id, outcome: 'invalid', run_status: null, detail: expect.stringContaining(`${pointer}: `) }]);
  });
});
