import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ConsoleFiles } from '../../../local/pages/console-build.ts';
import { consolePages } from '../../../local/pages/console-pages.ts';
import { startIssuer, type LocalIssuer } from '../../../local/sign-in/issuer.ts';
import { listen, type Listening } from '../../../local/machine/listen.ts';
import { signInPages } from '../../../local/sign-in/sign-in-pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'console-'));
let files: ConsoleFiles = { state: 'ready', folder };
let issuer: LocalIssuer;
let server: Listening;
let origin: string;

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), 'the page');
  writeFileSync(join(folder, 'assets/index-1.js'), 'the script');
  issuer = await startIssuer({ claim: 'cognito:groups' });
  const pages = consolePages({
    files: () => files,
    clientId: issuer.audience,
    membershipClaim: 'cognito:groups',
    exampleCvm: 'sim-1',
    storage: 'http://127.0.0.1:9',
  });
  const signIn = signInPages(issuer.signIn);
  const handler = createServer((request, response) => {
    void pages(request, response)
      .then(async (isDone) => isDone || (await signIn(request, response)))
      .then((isDone) => isDone || response.writeHead(404).end());
  });
  server = await listen(handler, 0);
  origin = `http://localhost:${server.port}`;
});
afterAll(async () => {
  await server.stop();
  await issuer.stop();
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

  it('answer HEAD as they answer GET, without the body', async () => {
    const pages = ['/', '/console', '/console/', '/console/assets/index-1.js', '/console/config.json'];
    for (const path of [...pages, '/local/issuer/sign-in']) {
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
    expect([building.status, building.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await building.text()).toContain('The console is being built');
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

describe('the issuer of this machine', () => {
  const question = {
    response_type: 'code',
    client_id: 'local',
    state: 's',
    sub: 'alice',
    group: 'd1:viewer',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', // RFC 7636, appendix B
    code_challenge_method: 'S256',
  };
  const ask = (changed: Record<string, string> = {}) =>
    get(
      `/local/issuer/authorize?${String(new URLSearchParams({ ...question, redirect_uri: `${origin}/console/`, ...changed }))}`,
    );
  const exchange = (body: Record<string, string>) =>
    get('/local/issuer/token', { method: 'POST', body: new URLSearchParams({ client_id: 'local', ...body }) });
  const codeFor = async () => new URL((await ask()).headers.get('location') ?? '').searchParams.get('code') ?? '';
  const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

  it('gives a token of the user for a code and its verifier, once, and renews it', async () => {
    const code = await codeFor();
    const answer = await exchange({ grant_type: 'authorization_code', code, code_verifier });
    const { access_token, refresh_token } = (await answer.json()) as { access_token: string; refresh_token: string };
    const claims = JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).toMatchObject({ sub: 'alice', iss: issuer.url, token_use: 'access', 'cognito:groups': ['d1:viewer'] });
    expect((await exchange({ grant_type: 'authorization_code', code, code_verifier })).status).toBe(400);
    expect((await exchange({ grant_type: 'refresh_token', refresh_token })).status).toBe(200);
    expect((await exchange({ grant_type: 'refresh_token', refresh_token: 'another' })).status).toBe(400);
  });

  it('refuses a code without its verifier', async () => {
    expect((await exchange({ grant_type: 'authorization_code', code: await codeFor() })).status).toBe(400);
  });

  it('gives a code to the listener of a program on this machine', async () => {
    const answer = await ask({ redirect_uri: 'http://127.0.0.1:4711/callback' });
    expect(answer.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:4711\/callback\?code=/);
    expect((await get('/local/issuer/sign-in')).headers.get('content-security-policy')).toContain(
      "form-action 'self' http://127.0.0.1:*",
    );
  });

  it.each([
    ['another page to return to', { redirect_uri: 'https://evil.example.com/console/' }],
    ['another port to return to', { redirect_uri: 'http://localhost:1/console/' }],
    ['another client', { client_id: 'other' }],
    ['no proof key', { code_challenge_method: 'plain' }],
    ['a membership of no known role', { group: 'd1:king' }],
    ['a user whose name is too long', { sub: 'a'.repeat(256) }],
    ['a user with a reserved name', { sub: 'system' }],
    ['another path of this machine', { redirect_uri: 'http://127.0.0.1:4711/elsewhere' }],
  ])('gives no code for %s', async (_, changed) => {
    expect((await ask(changed)).status).toBe(400);
  });

  describe('for a device', () => {
    const begin = (headers: Record<string, string> = {}, client_id = 'local') =>
      get('/local/issuer/device_authorization', { method: 'POST', body: new URLSearchParams({ client_id }), headers });
    const begun = async () =>
      (await (await begin()).json()) as { device_code: string; user_code: string; verification_uri: string };
    const decide = (body: object, headers: Record<string, string> = {}) =>
      get('/local/issuer/device', { method: 'POST', body: JSON.stringify(body), headers });
    const poll = (device_code: string) => exchange({ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code });

    it('gives a token once its user has decided about the code, once, and renews it', async () => {
      const { device_code, user_code, verification_uri } = await begun();
      expect(verification_uri).toBe(`${origin}/local/issuer/device`);
      expect(user_code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
      const waiting = await poll(device_code);
      expect([waiting.status, await waiting.json()]).toEqual([400, expect.objectContaining({ error: 'authorization_pending' })]);
      expect((await decide({ user_code, sub: 'bob', group: ['d1:runner'] })).status).toBe(200);
      const { access_token, refresh_token } = (await (await poll(device_code)).json()) as Record<string, string>;
      const claims = JSON.parse(Buffer.from(access_token?.split('.')[1] ?? '', 'base64url').toString()) as object;
      expect(claims).toMatchObject({ sub: 'bob', iss: issuer.url, 'cognito:groups': ['d1:runner'] });
      expect((await exchange({ grant_type: 'refresh_token', refresh_token: refresh_token ?? '' })).status).toBe(200);
      expect(await (await poll(device_code)).json()).toMatchObject({ error: 'expired_token' });
    });

    it('says that the user refused', async () => {
      const { device_code, user_code } = await begun();
      expect((await decide({ user_code, refused: true })).status).toBe(200);
      expect(await (await poll(device_code)).json()).toEqual({ error: 'access_denied', error_description: 'The user refused.' });
    });

    it('takes no decision about another code, a second one, or one for a role or a name that no user can have', async () => {
      const { user_code } = await begun();
      const me = { sub: 'bob', group: [] };
      expect((await decide({ user_code: 'AAAA-AAAA', ...me })).status).toBe(404);
      expect((await decide({ user_code, sub: 'bob', group: ['d1:king'] })).status).toBe(400);
      expect((await decide({ user_code, sub: 'system', group: ['d1:viewer'] })).status).toBe(400);
      expect((await decide({ user_code, ...me })).status).toBe(200);
      expect((await decide({ user_code, ...me })).status).toBe(404);
    });

    it('answers neither other pages nor other clients', async () => {
      const headers = { 'sec-fetch-site': 'cross-site' };
      const { user_code } = await begun();
      expect((await begin(headers)).status).toBe(403);
      expect((await decide({ user_code, sub: 'bob' }, headers)).status).toBe(403);
      expect((await begin({}, 'other')).status).toBe(401);
    });
  });
});
