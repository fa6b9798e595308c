import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../infra/local/stack.ts';
import { keyedNames } from '../support/keyed-requests.ts';
import { stepsOf, type Steps } from '../support/keyed-steps.ts';

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

describe.each(keyedNames)('a repeat of %s', (name) => {
  it('answers 403 to a caller who has lost the role, with and without another one, and the first answer if it is back', async () => {
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

  it('by another user or in another domain with the same key is a request of its own', async () => {
    const [request, key] = [await bob.prepare(name), newKey()];
    const alice = await as('alice', 'administrator');
    await alice.send(name, request, key);
    const others = [bob, stepsOf(stack.baseUrl, 'd2', await stack.token('alice', ['d2:administrator']))];
    for (const other of others) expect((await other.send(name, request, key)).headers.has('idempotent-replayed')).toBe(false);
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
