import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { testClock } from '../support/test-clock.ts';
import { watchFunctions } from '../support/recorded-calls.ts';
import { callAs, readyComputation, type Call } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';

const clock = testClock();
const functions = watchFunctions();
let stack: Stack;
let call: Call;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false, load: functions.load, clock });
  call = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator', 'd1:cvm'])));
});

afterAll(async () => {
  await stack.stop();
});

const statusOf = async (id: string) => (await call('GET', `/d1/computations/${id}?peek=true`)).body['status'];

describe('startStack', () => {
  it('completes a computation whose CVM is played by hand', async () => {
    const id = await readyComputation(call);
    const run_id = (await call('POST', `/d1/computations/${id}/run?cvm=cvm-1`)).body as unknown as string;
    const commands = async () =>
      (await call('GET', '/d1/cvms/cvm-1/commands')).body['commands'] as { id: string; type: string }[];
    await expect.poll(commands).toHaveLength(1);
    const [command] = await commands();
    const reports = [
      { id: '1', run_id, type: 'accepted', command_id: command?.id },
      { id: '2', run_id, type: 'heartbeat' },
      { id: '3', run_id, type: 'event', event_type: 'Complete', status: 'Completed' },
    ];
    expect(await call('POST', '/d1/cvms/cvm-1/reports', { reports })).toMatchObject({
      status: 200,
      body: { accepted: 3, duplicates: 0 },
    });
    await expect.poll(() => statusOf(id)).toBe('completed');
  });

  it('fails a run that no CVM accepts within two minutes', async () => {
    const id = await readyComputation(call);
    await call('POST', `/d1/computations/${id}/run?cvm=cvm-2`);
    await expect.poll(async () => (await call('GET', '/d1/cvms/cvm-2/commands')).body['commands']).toHaveLength(1);
    await functions.untilIdle();
    clock.move(60_000);
    expect(await statusOf(id)).toBe('running');
    await functions.untilIdle();
    clock.move(60_000);
    await expect.poll(() => statusOf(id)).toBe('failed');
    expect((await call('GET', `/d1/computations/${id}/run`)).body['reason']).toBe('No CVM accepted the run in time.');
  });

  it('invokes every scheduled function in its interval', async () => {
    await functions.untilIdle();
    const sweeps = functions.invocationsOf('lifecycle/sweep-runs').ended;
    clock.move(60_000);
    await expect.poll(() => functions.invocationsOf('lifecycle/sweep-runs').ended).toBeGreaterThan(sweeps);
    await functions.untilIdle();
    clock.move(15 * 60_000);
    await expect.poll(() => functions.invocationsOf('maintenance/collect-content').ended).toBeGreaterThan(0);
    expect(functions.invocationsOf('maintenance/purge').ended).toBeGreaterThan(0);
  });

  it('stamps what happens with the time of its clock', async () => {
    await functions.untilIdle();
    clock.move(30 * 86_400_000);
    const { body } = await call('POST', '/d1/computations', { name: 'Next month' });
    expect(Date.parse(String(body['created_at']))).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  });

  it('makes a presigned upload the content of its asset', async () => {
    const { body: asset } = await call('POST', '/d1/assets', { asset: { file_name: 'iris.csv', asset_type: 'dataset' } });
    const { method, url, headers } = asset['upload'] as { method: string; url: string; headers: Record<string, string> };
    expect((await fetch(url, { method, headers, body: '5.1,3.5' })).status).toBe(200);
    const content = async () => (await call('GET', `/d1/assets/${String(asset['id'])}`)).body['asset'];
    await expect.poll(content).toBe(btoa('5.1,3.5'));
  });

  it.each(['PUT', 'POST'])('answers %s on the list of linked computations with 404: it names no computation', async (method) => {
    const asset = { file_name: 'a.csv', asset_type: 'dataset', asset: btoa('1') };
    const { body } = await call('POST', '/d1/assets', { asset });
    expect(await call(method, `/d1/assets/${String(body['id'])}/computations`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  it('answers 400 to broken UTF-8', async () => {
    const token = await stack.token('alice', ['d1:administrator']);
    const response = await fetch(`${stack.baseUrl}/d1/assets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: Buffer.from('{"asset":{"file_name":"\xff"}}', 'latin1'),
    });
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ code: 'invalid_request' })]);
  });

  it('lets browsers use only its own scripts and styles on the reference page, and guess no content types', async () => {
    for (const path of ['/docs', '/docs/docs.js', '/favicon.ico']) {
      const { headers } = await fetch(stack.baseUrl + path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    }
  });

  it('answers HEAD of the reference as GET, without the body', async () => {
    for (const path of ['/docs', '/docs/docs.js', '/favicon.ico']) {
      const [asGet, asHead] = [await fetch(stack.baseUrl + path), await fetch(stack.baseUrl + path, { method: 'HEAD' })];
      const { byteLength } = await asGet.arrayBuffer();
      expect([path, asHead.status, asHead.headers.get('content-type'), asHead.headers.get('content-length')]).toEqual([
        path,
        200,
        asGet.headers.get('content-type'),
        String(byteLength),
      ]);
      expect(await asHead.text()).toBe('');
    }
  });

  it('serves a reference page without the inline scripts, styles and event handlers that its policy forbids', async () => {
    const page = await (await fetch(`${stack.baseUrl}/docs`)).text();
    expect(page).toContain('<script ');
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\s(?:style|on\w+)=/);
  });

  it('serves the reference page and all that it loads', async () => {
    const page = await (await fetch(`${stack.baseUrl}/docs`)).text();
    const loaded = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address ?? '');
    expect(loaded.length).toBeGreaterThan(4);
    for (const address of loaded) {
      const response = await fetch(stack.baseUrl + address);
      expect([address, response.status]).toEqual([address, 200]);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  });
});

describe('POST /local/token', () => {
  const ask = async (body: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }) => {
    const response = await fetch(`${stack.baseUrl}/local/token`, { method: 'POST', body: JSON.stringify(body), headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it('gives a token that the service accepts', async () => {
    const { body } = await ask({ sub: 'bob', groups: ['d9:viewer'] });
    expect((await callAs(stack.baseUrl, String(body['access_token']))('GET', '/d9/computations')).status).toBe(200);
  });

  it('answers 400 with the places in the request that are invalid', async () => {
    expect(await ask({ sub: '', groups: ['d1:king'] })).toEqual({
      status: 400,
      body: {
        message:
          'sub: Expected a user identifier: 1 to 255 bytes of UTF-8. ' +
          'groups.0: Expected <domainID>:<role>, such as d1:viewer, or <domainID>:cvm:<cvmID>, such as d1:cvm:cvm-1.',
      },
    });
    for (const group of ['d1:cvm:', 'd1:viewer:cvm-1', 'd1:cvm:a/b', `d1:cvm:${'x'.repeat(65)}`, 'd 1:cvm:a', ':cvm:a']) {
      expect([group, (await ask({ sub: 'cvm', groups: [group] })).status]).toEqual([group, 400]);
    }
  });

  it.each(['system', 'agent', 'computation-runner'])('gives the reserved name %s to nobody but a CVM', async (sub) => {
    const message = 'sub: This name is reserved for the events of the service and of agents. Only a CVM can have it.';
    for (const groups of [['d9:viewer'], ['d9:cvm', 'd1:administrator'], []]) {
      expect(await ask({ sub, groups })).toEqual({ status: 400, body: { message } });
    }
    const { body } = await ask({ sub, groups: ['d9:cvm', 'd1:cvm:rack-4'] });
    expect((await callAs(stack.baseUrl, String(body['access_token']))('GET', '/d9/cvms/rack-4/commands')).status).toBe(200);
  });

  it('gives a token that is bound to a CVM', async () => {
    const { body } = await ask({ sub: 'cvm', groups: ['d9:cvm:rack:4'] });
    const call = callAs(stack.baseUrl, String(body['access_token']));
    expect((await call('GET', '/d9/cvms/rack:4/commands')).status).toBe(200);
    expect((await call('GET', '/d9/cvms/rack:5/commands')).status).toBe(403);
  });

  it('refuses the preflight of every page, even of one that may call the API', async () => {
    const headers = { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' };
    for (const path of ['/local/token', '/local/domain']) {
      const response = await fetch(stack.baseUrl + path, { method: 'OPTIONS', headers });
      expect([path, response.status, response.headers.get('access-control-allow-origin')]).toEqual([path, 404, null]);
    }
    const ofApi = await fetch(`${stack.baseUrl}/d1/computations`, { method: 'OPTIONS', headers });
    expect([ofApi.status, ofApi.headers.get('access-control-allow-origin')]).toEqual([204, headers.origin]);
  });

  it('gives no token to a page of another site', async () => {
    expect((await ask({ sub: 'bob', groups: [] }, { 'content-type': 'text/plain' })).status).toBe(403);
  });
});
