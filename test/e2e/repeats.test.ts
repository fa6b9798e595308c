import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CallRequest, Reply } from '../support/client.ts';
import { keyedNames, keyedRequests, type KeyedName, type KeyedRequest } from '../support/keyed-requests.ts';
import { newCvm, useSession } from '../support/session.ts';
import { privateKey } from '../support/suite-state.ts';

const session = useSession();

const newKey = () => ({ 'idempotency-key': randomUUID() });

function send(name: KeyedName, { path = {}, query = {}, body }: KeyedRequest, headers: Record<string, string>): Promise<Reply> {
  return session.call(name, { path, query, headers, body } as CallRequest<KeyedName>);
}

/** Reads what the request may have changed, and the totals of all lists. */
async function stateOf({ computation, asset, cvm }: KeyedRequest): Promise<unknown> {
  const { call, done } = session;
  const totals = await Promise.all(
    (['computations/list-computations', 'assets/list-assets', 'runs/list-runs', 'cvms/list-cvms'] as const).map((list) =>
      done(list, {}),
    ),
  );
  const of = { path: { id: computation ?? '' } };
  return {
    totals: totals.map(({ total }) => total),
    computation: computation && {
      ...withoutRequestId((await call('computations/get-computation', of)).body),
      status: 'changes when the service ends the run',
      run: 'the same',
    },
    events: computation && eventsOfUsers((await call('events/list-events', of)).body),
    key: computation && withoutRequestId((await call('keys/check-key', of)).body),
    cvm: cvm && withoutRequestId((await call('cvms/get-cvm', { path: { cvmID: cvm } })).body),
    asset: asset && withoutRequestId((await call('assets/get-asset', { path: { id: asset } })).body),
  };
}

/** The service ends a stopped run in its own time. */
function eventsOfUsers(page: unknown): unknown {
  const { events = [] } = page as { events?: { originator: string }[] };
  return events.filter(({ originator }) => originator !== 'system');
}

const withoutRequestId = (body: unknown) => ({ ...(body as object), request_id: '' });

/** The parts of an answer that a repeat gets again: not its request id, nor presigned links. */
function repeated({ status, headers, body }: Reply) {
  const { upload, ...rest } = typeof body === 'object' && body !== null ? (body as { upload?: object }) : { body };
  return {
    status,
    location: headers.get('location'),
    hxLocation: headers.get('hx-location'),
    etag: headers.get('etag'),
    hasUpload: upload !== undefined,
    ...rest,
  };
}

describe.each(keyedNames)('an Idempotency-Key on %s', (name) => {
  const key = newKey();
  let request: KeyedRequest;
  let first: Reply;
  let before: unknown;
  beforeAll(async () => {
    request = await keyedRequests[name](session);
    first = await send(name, request, key);
    before = await stateOf(request);
  });

  it('gives the first answer again, and changes nothing more', async () => {
    expect(first.status).toBeLessThan(300);
    expect(first.headers.has('idempotent-replayed')).toBe(false);
    for (let time = 1; time <= 2; time++) {
      const again = await send(name, request, key);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
      expect(repeated(again)).toEqual(repeated(first));
    }
    expect(await stateOf(request)).toEqual(before);
  });

  it('answers 422 to another request with the same key, and changes nothing', async () => {
    const { domain } = session.target;
    const others = [
      await send(name, { ...request, query: { ...request.query, domainID: domain } }, key),
      await send(name, request, { ...key, 'if-match': '"another"' }),
    ];
    for (const other of others) expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
    expect(await stateOf(request)).toEqual(before);
  });
});

describe('an Idempotency-Key', () => {
  it('is 1 to 255 printable ASCII characters, or the answer is 400 and names the header', async () => {
    const create = (key: string) => send('computations/create-computation', { body: { name: 'N' } }, { 'idempotency-key': key });
    for (const key of ['', 'x'.repeat(256), 'é', 'a\tb']) {
      expect(await create(key)).toMatchObject({ status: 400, body: { errors: [{ pointer: 'header/Idempotency-Key' }] } });
    }
    expect((await create('~'.repeat(255))).status).toBe(201);
  });

  it('is not kept with a refusal: the request can succeed later', async () => {
    const { id } = await session.createComputation();
    const asset = await session.createAsset();
    await session.link(asset.id, id);
    const [key, cvm] = [newKey(), newCvm()];
    const request = { path: { id }, query: { cvm }, headers: key };
    expect(await session.call('runs/start-run', request)).toMatchObject({ status: 422, body: { code: 'incomplete' } });
    expect(await session.call('runs/start-run', request)).toMatchObject({ status: 422, body: { code: 'incomplete' } });
    const ready = await session.readyComputation();
    expect((await session.call('runs/start-run', { ...request, path: { id: ready } })).status).toBe(200);
  });

  it('belongs to one method and route: the same key serves one request of each', async () => {
    const key = newKey();
    const created = await session.call('computations/create-computation', { body: { name: 'One' }, headers: key });
    const { id } = created.body as { id: string };
    const updated = await session.call('computations/update-computation', { path: { id }, body: { name: 'Two' }, headers: key });
    const deleted = await session.call('computations/delete-computation', { path: { id }, headers: key });
    expect([created, updated, deleted].map(({ status, headers }) => [status, headers.has('idempotent-replayed')])).toEqual([
      [201, false],
      [200, false],
      [204, false],
    ]);
  });

  it('replays a delete although the resource is gone, and a change although the resource was deleted since', async () => {
    const { id } = await session.createComputation();
    const [put, remove] = [newKey(), newKey()];
    const change = { path: { id }, body: { name: 'Changed', agent_config: { server_key: privateKey() } }, headers: put };
    const first = await session.done('computations/update-computation', change);
    expect(first.agent_config.server_key).toBe(privateKey());
    await session.done('computations/delete-computation', { path: { id }, headers: remove });
    const { server_key: _, ...config } = first.agent_config;
    expect(await session.done('computations/update-computation', change)).toEqual({ ...first, agent_config: config });
    expect((await session.call('computations/delete-computation', { path: { id }, headers: remove })).status).toBe(204);
    expect((await session.call('computations/delete-computation', { path: { id }, headers: newKey() })).status).toBe(404);
  });

  it('gives the answer to a change or delete with If-Match again, although its ETag is not the resource’s any more', async () => {
    const created = await session.call('computations/create-computation', { body: { name: 'One' } });
    const path = { id: (created.body as { id: string }).id };
    const change = {
      path,
      body: { name: 'Two' },
      headers: { ...newKey(), 'if-match': created.headers.get('etag') ?? '' },
    };
    const first = await session.call('computations/update-computation', change);
    const again = await session.call('computations/update-computation', change);
    expect([again.status, again.headers.get('etag')]).toEqual([200, first.headers.get('etag')]);
    const remove = { path, headers: { ...newKey(), 'if-match': first.headers.get('etag') ?? '' } };
    expect((await session.call('computations/delete-computation', remove)).status).toBe(204);
    expect((await session.call('computations/delete-computation', remove)).status).toBe(204);
  });

  it('returns the present server_key, not the one at the first request', async () => {
    const create = { body: { name: 'N', agent_config: { server_key: privateKey() } }, headers: newKey() };
    const first = await session.done('computations/create-computation', create);
    const body = { name: 'N', agent_config: { server_key: privateKey('second') } };
    await session.done('computations/update-computation', { path: { id: first.id }, body });
    const again = await session.done('computations/create-computation', create);
    expect(again).toEqual({ ...first, agent_config: { ...first.agent_config, server_key: privateKey('second') } });
  });

  it('gives an upload link that works', async () => {
    const asset = { file_name: 'later.csv', asset_type: 'dataset' };
    const create = { body: { asset }, headers: newKey() };
    await session.done('assets/create-asset', create);
    const { upload } = await session.done('assets/create-asset', create);
    if (!upload) throw new Error('There is no link.');
    const { method, url, headers } = upload;
    expect((await fetch(url, { method, headers, body: 'a,b' })).status).toBe(200);
  });

  it('is ignored by GET and by the endpoints 12 and 26', async () => {
    const key = { 'idempotency-key': 'x'.repeat(300) };
    const { id } = await session.createComputation();
    for (let time = 1; time <= 2; time++) {
      const answers = [
        await session.call('computations/get-computation', { path: { id }, headers: key }),
        await session.call('runs/dry-run', { path: { id }, headers: key }),
        await session.call('runs/stop-run', { path: { id }, method: 'GET', headers: key }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 409]);
    }
    const reports = { reports: [{ run_id: randomUUID(), type: 'heartbeat', id: '1' }] };
    const reported = { path: { cvmID: newCvm() }, body: reports, headers: key, as: 'cvm' as const };
    expect((await session.call('cvms/report', reported)).status).toBe(200);
  });

  it('keeps the answer of a request that changed nothing', async () => {
    const { id } = await session.createComputation();
    const asset = await session.createAsset();
    const unlink = { path: { id: asset.id, computationID: id }, headers: newKey() };
    expect((await session.call('assets/unlink-asset', unlink)).headers.has('idempotent-replayed')).toBe(false);
    await session.link(asset.id, id);
    expect((await session.call('assets/unlink-asset', unlink)).headers.get('idempotent-replayed')).toBe('true');
    expect(await session.done('computations/get-computation', { path: { id } })).toMatchObject({ assets: [{ id: asset.id }] });
  });
});
