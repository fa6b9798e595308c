import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { isDeployed } from '../support/target.ts';
import { untilTestEnds } from '../support/patience.ts';
import { itAs, newCvm, useSession } from '../support/session.ts';
import { privateKey } from '../support/suite-state.ts';

const session = useSession();
const create = 'computations/create-computation';
const get = 'computations/get-computation';
const certificate = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----';
const noConfig = { log_level: '', cert_file: '', server_ca_file: '', client_ca_file: '', attested_tls: false };
const fullConfig = {
  log_level: 'debug',
  cert_file: '/etc/cert.pem',
  server_key: privateKey(),
  server_ca_file: 'server ca',
  client_ca_file: 'client ca',
  attested_tls: true,
};
const absent = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';

describe('create a computation', () => {
  it('answers 201 with the computation, and its path in Location and HX-Location', async () => {
    const { status, headers, body } = await session.call(create, {
      body: { name: 'Income', description: 'by region', agent_config: fullConfig },
    });
    const { id } = body as { id: string };
    expect(status).toBe(201);
    expect(headers.get('hx-location')).toBe(`/computations/${id}`);
    expect(headers.get('location')).toBe(`/${session.target.domain}/computations/${id}`);
    expect(body).toEqual({
      id,
      name: 'Income',
      description: 'by region',
      owner: session.target.idOf('administrator'),
      status: 'created',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
      agent_config: fullConfig,
      approval: 'none',
      log_access: 'none',
      attestation_policy: null,
      result_review: null,
      consumers: [],
      providers: [],
      assets: [],
      parties: [{ user: session.target.idOf('administrator'), parts: ['owner', 'consumer'], invited: false }],
      run: null,
    });
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await session.done(get, { path: { id } })).toEqual(body);
  });

  it('accepts its identifier in upper case in a path, and answers it in lower case', async () => {
    const { id } = await session.createComputation();
    const path = { id: id.toUpperCase() };
    expect(path.id).not.toBe(id);
    expect(await session.done(get, { path })).toMatchObject({ id });
    expect(await session.done('computations/update-computation', { path, body: { name: 'Changed' } })).toMatchObject({ id });
    const { events } = (await session.done('events/list-events', { path })) as { events: unknown[] };
    expect(events).toHaveLength(2);
  });

  it('requires only a name, and sets the defaults of the other fields', async () => {
    const created = await session.createComputation({ name: 'N' });
    expect(created).toMatchObject({ description: '', agent_config: { ...noConfig, server_key: '' } });
  });

  it('accepts the domain of the path in the query, and answers 400 to another one', async () => {
    const { domain } = session.target;
    const named = { query: { domainID: domain }, body: { name: 'N' } };
    expect((await session.call(create, named)).status).toBe(201);
    const other = await session.refused(create, { ...named, query: { domainID: `${domain}x` } });
    expect(other).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ pointer: 'query/domainID' }] });
  });

  it('accepts another owner from an administrator', async () => {
    expect(await session.createComputation({ owner: 'someone' })).toMatchObject({ owner: 'someone' });
  });

  it.each([
    ['a reserved name as the owner', { owner: 'system' }, '/owner'],
    ['a reserved name as a result consumer', { consumers: ['bob', 'agent'] }, '/consumers/1'],
    ['a result consumer with a blank at the end', { consumers: ['bob', 'alice '] }, '/consumers/1'],
    ['a provider with a line end at the beginning', { providers: ['\nalice'] }, '/providers/0'],
  ])('answers 400 to %s, which nobody has', async (_what, fields, pointer) => {
    const { id } = await session.createComputation();
    const body = { name: 'N', ...fields };
    const refused = [
      await session.refused(create, { body }),
      await session.refused('computations/update-computation', { path: { id }, body }),
    ];
    for (const { status, errors } of refused) expect([status, errors?.[0]?.pointer]).toEqual([400, pointer]);
  });

  itAs(['creator'], 'makes the caller the owner, and answers 403 to another owner from a creator', async () => {
    expect(await session.createComputation({}, 'creator')).toMatchObject({ owner: session.target.idOf('creator') });
    expect(await session.createComputation({ owner: session.target.idOf('creator') }, 'creator')).toMatchObject({
      owner: session.target.idOf('creator'),
    });
    const refused = await session.refused(create, { body: { name: 'N', owner: 'someone' }, as: 'creator' });
    expect(refused).toMatchObject({ status: 403, code: 'forbidden' });
  });

  it.each([
    ['an empty object', {}, '/name'],
    ['an empty name', { name: '' }, '/name'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, '/name'],
    ['a name that is not a string', { name: 5 }, '/name'],
    ['a description of 4,001 characters', { name: 'N', description: 'x'.repeat(4_001) }, '/description'],
    ['an unknown field', { name: 'N', nmae: 'N' }, '/nmae'],
    ['a read-only field', { name: 'N', status: 'completed' }, '/status'],
    ['an unknown log level', { name: 'N', agent_config: { log_level: 'loud' } }, '/agent_config/log_level'],
    ['a certificate over 16 KiB', { name: 'N', agent_config: { cert_file: 'x'.repeat(16_385) } }, '/agent_config/cert_file'],
    [
      'a certificate with its private key in one field',
      { name: 'N', agent_config: { cert_file: `${certificate}\n-----BEGIN PRIVATE KEY-----\nMA==` } },
      '/agent_config/cert_file',
    ],
    ['a string instead of a boolean', { name: 'N', agent_config: { attested_tls: 'true' } }, '/agent_config/attested_tls'],
    ['an unknown field of agent_config', { name: 'N', agent_config: { 'a/b~': 1 } }, '/agent_config/a~1b~0'],
    ['an array instead of an object', { name: 'N', agent_config: [] }, '/agent_config'],
    ['an array', [], ''],
    ['null', null, ''],
  ])('answers 400 to %s and points to it', async (_what, body, pointer) => {
    const { status, code, errors } = await session.refused(create, { body });
    expect({ status, code, pointer: errors?.[0]?.pointer }).toEqual({ status: 400, code: 'invalid_request', pointer });
  });

  it('answers 400 with every invalid field', async () => {
    const { errors } = await session.refused(create, { body: { name: '', description: 1, x: 1 } });
    expect(errors?.map(({ pointer }) => pointer).sort()).toEqual(['/description', '/name', '/x']);
  });

  it('stores the longest name and description unchanged, whatever their characters', async () => {
    const longest = { name: '🦊'.repeat(200), description: 'ש'.repeat(4_000) };
    expect(await session.createComputation(longest)).toMatchObject(longest);
  });
});

describe('list the computations', () => {
  const list = 'computations/list-computations';

  it('answers with pages, newest first, and the exact total', async () => {
    const { total: before } = await session.done(list, {});
    const ids: string[] = [];
    for (const name of ['first', 'second', 'third']) ids.unshift((await session.createComputation({ name })).id);
    const all = await session.done(list, { query: { limit: 100 } });
    expect(all).toMatchObject({ limit: 100, offset: 0, total: before + 3 });
    expect(all.computations.slice(0, 3).map(({ id }) => id)).toEqual(ids);
    const page = await session.done(list, { query: { limit: 1, offset: 1 } });
    expect(page).toMatchObject({ limit: 1, offset: 1, total: before + 3, computations: [{ id: ids[1], name: 'second' }] });
    const beyond = await session.done(list, { query: { offset: before + 3 } });
    expect(beyond).toEqual({ computations: [], limit: 10, offset: before + 3, total: before + 3 });
  });

  it('filters by owner, also together with a status', async () => {
    const owner = `owner-${randomUUID()}`;
    const [mine, other] = [await session.createComputation(), await session.createComputation()];
    for (const { id } of [mine, other]) {
      await session.done('computations/update-computation', { path: { id }, body: { name: 'Handed over', owner } });
    }
    const totalOf = async (query: Record<string, string>) => (await session.done(list, { query: { owner, ...query } })).total;
    const { computations, total } = await session.done(list, { query: { owner } });
    expect([computations.map(({ id }) => id), total]).toEqual([[other.id, mine.id], 2]);
    expect([await totalOf({ status: 'created' }), await totalOf({ status: 'running' })]).toEqual([2, 0]);
    expect((await session.done(list, { query: { owner: `nobody-${owner}` } })).total).toBe(0);
    await session.done('computations/delete-computation', { path: { id: mine.id } });
    expect(await totalOf({})).toBe(1);
  });

  it('answers with rows without agent_config', async () => {
    const { id } = await session.createComputation({ name: 'Row', description: 'D', agent_config: fullConfig });
    const { computations: rows, limit } = await session.done(list, {});
    expect(limit).toBe(10);
    expect(rows.find((row) => row.id === id)).toEqual({
      id,
      name: 'Row',
      description: 'D',
      owner: session.target.idOf('administrator'),
      status: 'created',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  it('filters by status', async () => {
    const id = await session.readyComputation({ name: 'To complete' });
    const completed = { status: 'completed', limit: 100 };
    const { total: before } = await session.done(list, { query: completed });
    const cvm = newCvm();
    await session.startRun(id, cvm);
    const running = await session.done(list, { query: { status: 'running' } });
    expect(running.computations.map((row) => row.id)).toContain(id);
    await session.endRun(cvm);
    const { computations: rows, total } = await session.done(list, { query: completed });
    expect(total).toBe(before + 1);
    expect(rows.map((row) => row.id)).toContain(id);
    expect(new Set(rows.map((row) => row.status))).toEqual(new Set(['completed']));
  });

  it.each([
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '-1'],
    ['limit', 'NaN'],
    ['limit', '1e2'],
    ['limit', ''],
    ['offset', '-1'],
    ['offset', '0.5'],
    ['status', 'ready'],
    ['order', 'asc'],
  ])('answers 400 to %s=%s and points to it', async (name, value) => {
    const { status, errors } = await session.refused(list, { query: { [name]: value } });
    expect([status, errors?.[0]?.pointer]).toEqual([400, `query/${name}`]);
  });

  it('points to each of several unknown parameters', async () => {
    const { errors } = await session.refused(list, { query: { order: 'asc', ownr: 'alice' } });
    expect(errors?.map(({ pointer }) => pointer)).toEqual(['query/order', 'query/ownr']);
  });
});

describe('read a computation', () => {
  it('answers with the row only when peek is true', async () => {
    const { id, ...created } = await session.createComputation({ agent_config: fullConfig });
    const { name, description, owner, status, created_at, updated_at } = created;
    const row = { id, name, description, owner, status, created_at, updated_at };
    expect(await session.done(get, { path: { id }, query: { peek: true } })).toEqual(row);
    const whole = await session.done(get, { path: { id }, query: { peek: false } });
    expect(whole).toEqual({ id, ...created });
  });

  it('answers with its assets, the algorithm first, and its latest run', async () => {
    const id = await session.readyComputation();
    const dataset = await session.createAsset({ file_name: 'data.csv' });
    await session.link(dataset.id, id);
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    const running = await session.done(get, { path: { id } });
    expect(running).toMatchObject({
      status: 'running',
      assets: [
        { file_name: 'algorithm.py', asset_type: 'algorithm' },
        { id: dataset.id, file_name: 'data.csv', asset_type: 'dataset' },
      ],
      run: { id: run_id, status: 'running', ended_at: null },
    });
    await session.endRun(cvm, { event_type: 'Failed', status: 'Failed' });
    expect(await session.done(get, { path: { id } })).toMatchObject({
      status: 'failed',
      run: { id: run_id, status: 'failed', reason: 'The CVM failed.' },
    });
  });

  itAs(['viewer', 'runner', 'creator', 'editor'], 'shows server_key only to those who may edit', async () => {
    const { id } = await session.createComputation({ owner: session.target.idOf('creator'), agent_config: fullConfig });
    const { server_key, ...shown } = fullConfig;
    const configFor = async (as: 'viewer' | 'runner' | 'creator' | 'editor') => {
      const { agent_config } = (await session.call(get, { path: { id }, as })).body as { agent_config: unknown };
      return agent_config;
    };
    expect(await configFor('viewer')).toEqual(shown);
    expect(await configFor('runner')).toEqual(shown);
    expect(await configFor('editor')).toEqual({ ...shown, server_key });
    expect(await configFor('creator')).toEqual({ ...shown, server_key }); // its owner
  });
});

describe('replace a computation', () => {
  const update = 'computations/update-computation';

  it('accepts the computation as it was read with a change', async () => {
    const { id } = await session.createComputation({ agent_config: fullConfig });
    const read = await session.done(get, { path: { id } });
    const changed = await session.done(update, { path: { id }, body: { ...read, name: 'Changed' } });
    expect(changed).toEqual({ ...read, name: 'Changed', updated_at: expect.any(String) });
    expect(changed.updated_at >= read.updated_at).toBe(true);
    expect(await session.done(get, { path: { id } })).toEqual(changed);
  });

  it('resets absent fields to their defaults, except the owner', async () => {
    const { id } = await session.createComputation({ description: 'D', owner: 'someone', agent_config: fullConfig });
    expect(await session.done(update, { path: { id }, body: { name: 'N' } })).toMatchObject({
      name: 'N',
      description: '',
      owner: 'someone',
      agent_config: { ...noConfig, server_key: '' },
    });
  });

  it('ignores read-only fields, whatever their values', async () => {
    const created = await session.createComputation();
    const { id } = created;
    const said = { id: absent, status: 'completed', created_at: 5, updated_at: null, assets: ['x'], run: {} };
    const updated = await session.done(update, { path: { id }, body: { name: created.name, ...said } });
    expect(updated).toEqual(created);
  });

  it('changes the owner for an administrator', async () => {
    const { id } = await session.createComputation();
    const { owner } = await session.done(update, { path: { id }, body: { name: 'N', owner: 'someone' } });
    expect(owner).toBe('someone');
  });

  itAs(
    ['editor', 'creator', 'viewer'],
    'is allowed to editors and the owner only, and answers 403 when they change the owner',
    async () => {
      const { id } = await session.createComputation({ owner: session.target.idOf('creator') });
      const as = (person: 'editor' | 'creator' | 'viewer', owner = session.target.idOf('creator')) =>
        session.call(update, { path: { id }, body: { name: `by ${person}`, owner }, as: person });
      expect((await as('editor')).body).toMatchObject({ name: 'by editor', owner: session.target.idOf('creator') });
      expect((await as('creator')).body).toMatchObject({ name: 'by creator' });
      expect((await as('viewer')).status).toBe(403);
      expect((await as('editor', 'someone')).status).toBe(403);
      expect((await as('creator', 'someone')).status).toBe(403);
    },
  );
});

describe('delete a computation', () => {
  const remove = 'computations/delete-computation';

  it('answers 204 and removes the computation with its events, runs, keys and links', async () => {
    const id = await session.readyComputation();
    const asset = await session.createAsset();
    await session.link(asset.id, id);
    const cvm = newCvm();
    await session.startRun(id, cvm);
    await session.endRun(cvm);
    const runs = async () => (await session.done('runs/list-runs', { query: { limit: 100 } })).runs;
    const ofIt = async () => (await runs()).filter((run) => run.computation_id === id);
    expect(await ofIt()).toHaveLength(1);

    const { status, body } = await session.call(remove, { path: { id } });
    expect([status, body]).toEqual([204, undefined]);
    for (const name of [get, 'events/list-events', 'runs/get-run', 'keys/check-key', 'events/get-status'] as const) {
      expect([name, (await session.refused(name, { path: { id } })).status]).toEqual([name, 404]);
    }
    expect((await session.refused(remove, { path: { id } })).code).toBe('not_found');
    await vi.waitFor(async () => {
      expect(await ofIt()).toEqual([]);
      const linked = await session.done('assets/list-linked-computations', { path: { id: asset.id } });
      expect(linked).toMatchObject({ computations: [], total: 0 });
    }, untilTestEnds);
  });

  it('answers 409 with the id of the run while a run is active', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    const refused = await session.refused(remove, { path: { id } });
    expect(refused).toMatchObject({ status: 409, code: 'conflict', reason: 'run_active', run_id });
    await session.endRun(cvm);
    expect((await session.call(remove, { path: { id } })).status).toBe(204);
  });

  itAs(['editor', 'creator'], 'is allowed to administrators and the owner only', async () => {
    const { id } = await session.createComputation({ owner: session.target.idOf('creator') });
    expect((await session.refused(remove, { path: { id }, as: 'editor' })).code).toBe('forbidden');
    expect((await session.call(remove, { path: { id }, as: 'creator' })).status).toBe(204);
  });
});

describe('statistics', () => {
  const statistics = 'statistics/get-statistics';
  const today = () => new Date().toISOString().slice(0, 10);
  const countOf = async (day: string, status: string) => {
    const { comp_stats } = await session.done(statistics, { query: { days: 2 } });
    return comp_stats.find((entry) => entry.day === day && entry.status === status)?.count ?? 0;
  };

  it('count how many times computations entered each status today, each run of one computation too', async () => {
    const day = today();
    const count = async () => [await countOf(day, 'created'), await countOf(day, 'running'), await countOf(day, 'completed')];
    const before = await count();
    const id = await session.readyComputation();
    for (const cvm of [newCvm(), newCvm()]) {
      await session.startRun(id, cvm);
      await session.endRun(cvm);
    }
    const [created = 0, running = 0, completed = 0] = before;
    if (today() === day) expect(await count()).toEqual([created + 1, running + 2, completed + 2]);
  });

  it('are sorted by day and status, cover seven days by default and have no empty entries', async () => {
    await session.createComputation();
    const { comp_stats } = await session.done(statistics, {});
    expect(comp_stats.length).toBeGreaterThan(0);
    expect(comp_stats).toEqual(comp_stats.toSorted((a, b) => `${a.day} ${a.status}`.localeCompare(`${b.day} ${b.status}`)));
    const sixDaysAgo = new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10);
    for (const { day, count } of comp_stats) {
      expect(count).toBeGreaterThan(0);
      expect(day >= sixDaysAgo && day <= today()).toBe(true);
    }
    const year = await session.done(statistics, { query: { days: 366 } });
    expect(year.comp_stats.length).toBeGreaterThanOrEqual(comp_stats.length);
  });

  it.each(['0', '367', '-7', 'week', '7.5', ''])('answer 400 to days=%s', async (days) => {
    const { status, errors } = await session.refused(statistics, { query: { days } });
    expect([status, errors?.[0]?.pointer]).toEqual([400, 'query/days']);
  });
});

describe('the domain of a request', () => {
  itAs(['outsider'], 'hides computations of other domains, which answer 404 like missing ones', async () => {
    const { id } = await session.createComputation();
    const elsewhere = { domainID: session.target.otherDomain, id };
    const foreign = await session.refused(get, { path: elsewhere, as: 'outsider' });
    const missing = await session.refused(get, { path: { ...elsewhere, id: absent }, as: 'outsider' });
    expect(foreign).toMatchObject({ status: 404, code: 'not_found' });
    const { request_id: _a, ...foreignBody } = foreign as object as Record<string, unknown>;
    const { request_id: _b, ...missingBody } = missing as object as Record<string, unknown>;
    expect(foreignBody).toEqual(missingBody);
    const { computations: rows } = await session.done('computations/list-computations', {
      path: { domainID: session.target.otherDomain },
      as: 'outsider',
    });
    expect(rows.map((row) => row.id)).not.toContain(id);
  });

  it.skipIf(isDeployed).each(['d 1', 'd.1', 'd/1', 'x'.repeat(65), 'ü'])('answers 400 when its name is %j', async (domainID) => {
    const { status, errors } = await session.refused('computations/list-computations', { path: { domainID } });
    expect([status, errors?.[0]?.pointer]).toEqual([400, 'path/domainID']);
  });
});
