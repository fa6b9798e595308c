import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { preparedNames, type Steps, stepsOf } from '../support/keyed-requests.ts';
import { callAs } from '../support/ready-computation.ts';
import { untilTestEnds } from '../support/patience.ts';
import { publicKey } from '../support/session.ts';

let stack: Stack;
let bob: Steps;
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  bob = await as('bob', 'administrator');
});
afterAll(() => stack.stop());

async function as(sub: string, ...roles: string[]): Promise<Steps> {
  return stepsOf(
    stack.baseUrl,
    'd1',
    await stack.token(
      sub,
      roles.map((role) => `d1:${role}`),
    ),
  );
}

const newKey = () => ({ 'idempotency-key': randomUUID() });

/** The names of requests that only some roles allow. Others are for parties of a computation, the creator of an asset, or all users. */
const ofAnyRole: string[] = [
  'approvals/approve',
  'assets/set-asset-key',
  'assets/remove-asset-key',
  'notifications/set-notifications',
];
const byRole = preparedNames.filter((name) => !ofAnyRole.includes(name));

describe.each(byRole)('a repeat of %s', (name) => {
  it('answers 403 to a caller who has lost the role', async () => {
    const [request, key] = [await bob.prepare(name), newKey()];
    const alice = await as('alice', 'administrator');
    const first = await alice.send(name, request, key);
    expect(first.status).toBeLessThan(300);
    for (const roles of [['cvm'], []]) {
      const { status, body } = await (await as('alice', ...roles)).send(name, request, key);
      expect([status, body['code']]).toEqual([403, 'forbidden']);
    }
    expect((await alice.send(name, request, key)).headers.get('idempotent-replayed')).toBe('true');
  });
});

describe.each(preparedNames)('a repeat of %s', (name) => {
  it('of another user or domain is another request', async () => {
    const [request, key] = [await bob.prepare(name), newKey()];
    const alice = await as('alice', 'administrator');
    await alice.send(name, request, key);
    const others = [bob, stepsOf(stack.baseUrl, 'd2', await stack.token('alice', ['d2:administrator']))];
    for (const other of others) expect((await other.send(name, request, key)).headers.has('idempotent-replayed')).toBe(false);
  });
});

describe('a repeat of an approval', () => {
  it('answers 403 to a caller who has lost every role or is no party any more, and the first answer otherwise', async () => {
    const [carol, key] = [await as('carol', 'creator'), newKey()];
    const request = await carol.prepare('approvals/approve');
    const viewer = await as('carol', 'viewer');
    expect((await viewer.send('approvals/approve', request, key)).status).toBe(201);
    expect((await (await as('carol')).send('approvals/approve', request, key)).status).toBe(403);
    const again = await viewer.send('approvals/approve', request, key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);

    const path = request.path ?? {};
    const { body: computation } = await bob.get(`/d1/computations/${String(path['id'])}`);
    const [algorithm] = computation['assets'] as { id: string }[];
    await bob.send('assets/unlink-asset', { path: { id: algorithm?.id ?? '', computationID: String(path['id']) } });
    await bob.send('computations/update-computation', { path, body: { name: 'By bob', owner: 'bob' } });
    expect((await viewer.send('approvals/approve', request, key)).status).toBe(403);
  });
});

describe('a repeat of a PUT that a later change would make forbidden', () => {
  it('gets the first answer again after the owner that it repeats has been replaced, while other requests get 403', async () => {
    const { path = {} } = await bob.prepare('computations/update-computation');
    const [editor, key] = [await as('erin', 'editor'), newKey()];
    const put = 'computations/update-computation';
    const request = { path, body: { name: 'By erin', owner: 'bob' } };
    expect((await editor.send(put, request, key)).status).toBe(200);
    await bob.send(put, { path, body: { name: 'By bob', owner: 'dana' } });

    const again = await editor.send(put, request, key);
    expect([again.status, again.body['owner'], again.headers.get('idempotent-replayed')]).toEqual([200, 'bob', 'true']);
    expect((await editor.send(put, request, newKey())).status).toBe(403);
    expect((await editor.send(put, request)).status).toBe(403);
    expect((await editor.send(put, { ...request, body: { name: 'Other', owner: 'bob' } }, key)).status).toBe(422);
    expect((await (await as('erin', 'viewer')).send(put, request, key)).status).toBe(403);
    expect((await bob.get(`/d1/computations/${String(path['id'])}`)).body).toMatchObject({ name: 'By bob', owner: 'dana' });
  });

  it('gets the first answer again after the creator of the asset has changed a field that it repeats', async () => {
    const [carol, key] = [await as('carol', 'creator'), newKey()];
    const { path = {} } = await carol.prepare('assets/update-asset');
    const file = { file_name: 'a.csv', asset_type: 'dataset' };
    const request = { path, body: { asset: { ...file, use: 'open', description: 'By bob' } } };
    expect((await bob.send('assets/update-asset', request, key)).status).toBe(200);
    await carol.send('assets/update-asset', { path, body: { asset: { ...file, use: 'approval' } } });
    const again = await bob.send('assets/update-asset', request, key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect((await bob.send('assets/update-asset', request, newKey())).status).toBe(403);
  });

  it('gets the first answer again after the asset has got another type, which the caller may not give it back', async () => {
    const carol = await as('carol', 'creator');
    const [viewer, key] = [await as('carol', 'viewer'), newKey()];
    const { path = {} } = await carol.prepare('assets/update-asset');
    const put = 'assets/update-asset';
    const request = { path, body: { asset: { file_name: 'a.csv', asset_type: 'dataset', description: 'By carol' } } };
    await bob.send(put, { path, body: { asset: { file_name: 'a.csv', asset_type: 'dataset' } } });
    expect((await viewer.send(put, request, key)).status).toBe(200);
    await bob.send(put, { path, body: { asset: { file_name: 'a.py', asset_type: 'algorithm' } } });
    const again = await viewer.send(put, request, key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect((await viewer.send(put, request, newKey())).status).toBe(403);
  });
});

describe('a repeat of a stop by the creator of an asset', () => {
  it('gets the first answer again after the run has ended', async () => {
    const [carol, key] = [await as('carol', 'creator'), newKey()];
    const { path: { id = '' } = {} } = await bob.prepare('computations/update-computation');
    const asset = { file_name: 'a.py', asset_type: 'algorithm', asset: btoa('print(1)') };
    const { body: algorithm } = await carol.send('assets/create-asset', { body: { asset } });
    await bob.send('assets/link-asset', { path: { id: String(algorithm['id']), computationID: id } });
    for (const each of [bob, carol]) await each.send('keys/upload-key', { path: { id }, body: { key: publicKey() } });
    const { status, body: run } = await bob.send('runs/start-run', { path: { id }, query: { cvm: id } });
    expect(status).toBe(200);
    expect((await carol.send('runs/stop-run', { path: { id } }, key)).status).toBe(200);
    const cvm = callAs(stack.baseUrl, await stack.token('cvm', ['d1:cvm']));
    const report = { id: 'end', run_id: run, type: 'event', event_type: 'Stopped', status: 'Stopped' };
    await cvm('POST', `/d1/cvms/${id}/reports`, { reports: [report] });
    const statusNow = async () => (await bob.get(`/d1/computations/${id}?peek=true`)).body['status'];
    await vi.waitFor(async () => expect(await statusNow()).toBe('cancelled'), untilTestEnds);
    const again = await carol.send('runs/stop-run', { path: { id } }, key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  });
});

describe('a repeat by an owner without another role that allows the request', () => {
  it('gets the answer to a delete again', async () => {
    const [carol, key] = [await as('carol', 'creator'), newKey()];
    const request = await carol.prepare('computations/delete-computation');
    const viewer = await as('carol', 'viewer');
    expect((await viewer.send('computations/delete-computation', request, key)).status).toBe(204);
    const again = await viewer.send('computations/delete-computation', request, key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([204, 'true']);
  });

  it('answers 403 if the computation has another owner by now', async () => {
    const [carol, key] = [await as('carol', 'creator'), newKey()];
    const { path } = await carol.prepare('computations/update-computation');
    const request = { path: path ?? {}, body: { name: 'By carol' } };
    expect((await carol.send('computations/update-computation', request, key)).status).toBe(200);
    await bob.send('computations/update-computation', { ...request, body: { name: 'By bob', owner: 'bob' } });
    expect((await carol.send('computations/update-computation', request, key)).status).toBe(403);
  });

  it('lacks server_key if the caller may not read it any more', async () => {
    const [carol, key] = [await as('carol', 'creator'), newKey()];
    const request = { body: { name: 'By carol', agent_config: { server_key: 'secret' } } };
    const { body: first } = await carol.send('computations/create-computation', request, key);
    expect(first).toMatchObject({ agent_config: { server_key: 'secret' } });
    await bob.send('computations/update-computation', {
      path: { id: String(first['id']) },
      body: { ...request.body, owner: 'bob' },
    });
    const { status, body } = await carol.send('computations/create-computation', request, key);
    expect([status, body['id']]).toEqual([201, first['id']]);
    expect(body['agent_config']).not.toHaveProperty('server_key');
  });
});
