import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ConsoleFiles } from '../../../local/pages/console-build.ts';
import { consolePages } from '../../../local/pages/console-pages.ts';
import { listen, type Listening } from '../../../local/machine/listen.ts';

const folder = mkdtempSync(join(tmpdir(), 'console-'));
let files: ConsoleFiles = { state: 'ready', folder };
let server: Listening;
let origin: string;

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  mkdirSync(join(folder, 'help'));
  for (const name of ['index', 'glossary']) writeFileSync(join(folder, `help/${name}.html`), `help: ${name}`);
  writeFileSync(join(folder, 'index.html'), 'the page');
  writeFileSync(join(folder, 'assets/index-1.js'), 'the script');
  const pages = consolePages({
    files: () => files,
    clientId: 'local',
    membershipClaim: 'cognito:groups',
    exampleCvm: 'sim-1',
    storage: 'http://127.0.0.1:9',
  });
  const handler = createServer((request, response) => {
    void pages(request, response).then((isDone) => isDone || response.writeHead(404).end());
  });
  server = await listen(handler, 0);
  origin = `http://localhost:${server.port}`;
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const get = (path: string, init: RequestInit = {}) => fetch(origin + path, { redirect: 'manual', ...init });

describe('the pages of the console', () => {
  it.each(['/', '/console'])('are reached from %s', async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console/']);
  });

  it('serve the page for every screen, and have the browser ask each time', async () => {
    for (const path of ['/console/', '/console/domains/d1/cvms/cvm.1', '/console/../console/x']) {
      const answer = await get(path);
      expect([answer.status, await answer.text()]).toEqual([200, 'the page']);
      expect(answer.headers.get('cache-control')).toBe('no-cache');
    }
  });

  it('serve a built file for good, and answer 404 to one of another build', async () => {
    const answer = await get('/console/assets/index-1.js');
    expect(await answer.text()).toBe('the script');
    expect(answer.headers.get('content-type')).toMatch('text/javascript');
    expect(answer.headers.get('cache-control')).toContain('immutable');
    expect((await get('/console/assets/index-2.js')).status).toBe(404);
  });

  it('serve the help, whose pages the browser asks for each time, and answer 404 to a page that is not there', async () => {
    expect(await (await get('/help/')).text()).toBe('help: index');
    const answer = await get('/help/glossary.html');
    expect([await answer.text(), answer.headers.get('cache-control')]).toEqual(['help: glossary', 'no-cache']);
    for (const path of ['/help/x.html', '/help/..%2findex.html']) expect((await get(path)).status).toBe(404);
    expect((await get('/help/computations', { headers: { authorization: 'Bearer x' } })).status).toBe(404);
  });

  it('answer HEAD as they answer GET, without the body', async () => {
    for (const path of ['/', '/console', '/console/', '/console/assets/index-1.js', '/console/config.json']) {
      const [asGet, asHead] = [await get(path), await get(path, { method: 'HEAD' })];
      expect([path, asHead.status, asHead.headers.get('content-type')]).toEqual([
        path,
        asGet.status,
        asGet.headers.get('content-type'),
      ]);
      expect(await asHead.text()).toBe('');
    }
  });

  it('allow only their own scripts and styles, and calls to the service and its storage', async () => {
    const { headers } = await get('/console/');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
        "connect-src 'self' http://127.0.0.1:9; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('say that they are being built, and why they could not be', async () => {
    onTestFinished(() => {
      files = { state: 'ready', folder };
    });
    files = { state: 'building' };
    const building = await get('/console/domains/d1/todo');
    const { headers } = building;
    expect([building.status, headers.get('retry-after'), headers.get('refresh')]).toEqual([503, '2', '2']);
    expect(await building.text()).toContain('The console is being built');
    expect((await get('/console/waiting.css')).headers.get('content-type')).toContain('text/css');
    files = { state: 'failed', message: '' };
    const failed = await get('/console/');
    expect([failed.status, await failed.text()]).toEqual([500, expect.stringContaining('could not be built')]);
  });

  it('leave reads with a token and all other requests to the API, whose domain may be named console', async () => {
    const headers = { authorization: 'Bearer x' };
    for (const init of [{ headers }, { method: 'OPTIONS' }, { method: 'POST' }]) {
      expect((await get('/console/computations', init)).status).toBe(404);
    }
  });

  it('name the issuer by the address that the browser used, and a CVM that answers', async () => {
    expect(await (await get('/console/config.json')).json()).toEqual({
      api: origin,
      issuer: `${origin}/local/issuer`,
      clientId: 'local',
      scopes: 'openid',
      membershipClaim: 'cognito:groups',
      exampleCvm: 'sim-1',
    });
  });
});
