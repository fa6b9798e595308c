import { createServer } from 'node:http';
import { beginSignIn, completeSignIn, deviceSignIn } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowedOrigins } from '../../../local/http-api/http-messages.ts';
import { listen, type Listening } from '../../../local/machine/listen.ts';
import { openIssuer, type LocalIssuer } from '../../../local/sign-in/issuer.ts';
import { signInPages } from '../../../local/sign-in/sign-in-pages.ts';

let issuer: LocalIssuer;
let server: Listening;
let origin: string;

beforeAll(async () => {
  issuer = await openIssuer({ claim: 'cognito:groups' });
  const pages = signInPages(issuer, allowedOrigins(['https://app.example.com']));
  server = await listen(
    createServer((request, response) => void pages(request, response)),
    0,
  );
  origin = `http://localhost:${server.port}`;
});
afterAll(() => server.stop());

const get = (path: string, init: RequestInit = {}) => fetch(origin + path, { redirect: 'manual', ...init });

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

  it('signs users of the client in, in a browser and by device', async () => {
    const asked = { issuer: `${origin}/local/issuer`, clientId: 'local', redirectUri: 'http://127.0.0.1:4711/callback' };
    const pending = await beginSignIn(asked);
    const chosen = new URLSearchParams([...new URL(pending.url).searchParams, ['sub', 'alice'], ['group', 'd1:viewer']]);
    const { headers } = await get(`/local/issuer/authorize?${String(chosen)}`);
    expect(await completeSignIn(asked, pending, headers.get('location') ?? '')).toMatchObject({
      refresh_token: expect.any(String),
    });

    const decide = (body: object) => get('/local/issuer/device', { method: 'POST', body: JSON.stringify(body) });
    const show = ({ user_code }: { user_code: string }) => void decide({ user_code, sub: 'bob', group: [] });
    expect(await deviceSignIn({ ...asked, show })).toMatchObject({ refresh_token: expect.any(String) });
  });

  it('names the user, the client, itself and the nonce in the ID token', async () => {
    const code = new URL((await ask({ nonce: 'n' })).headers.get('location') ?? '').searchParams.get('code') ?? '';
    const answer = await exchange({ grant_type: 'authorization_code', code, code_verifier });
    const { id_token = '' } = (await answer.json()) as { id_token?: string };
    const claims = JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).toMatchObject({ sub: 'alice', aud: 'local', iss: `${origin}/local/issuer`, nonce: 'n', token_use: 'id' });
  });

  it('exchanges codes for pages of allowed origins alone, and lets none of them begin or decide', async () => {
    const answerTo = async (method: string, path: string, page: string) => {
      const headers = { origin: page, 'sec-fetch-site': 'cross-site' };
      const { status, headers: answered } = await get(`/local/issuer${path}`, { method, headers });
      return [status, answered.get('access-control-allow-origin')];
    };
    for (const page of ['http://localhost:5173', 'https://app.example.com']) {
      for (const path of ['/.well-known/openid-configuration', '/jwks', '/token']) {
        expect(await answerTo('OPTIONS', path, page)).toEqual([204, page]);
      }
    }
    const foreign = ['https://evil.example.com', 'null', 'http://localhost.evil.example.com'];
    for (const page of foreign) expect(await answerTo('POST', '/token', page)).toEqual([403, null]);
    for (const path of ['/device_authorization', '/device', '/authorize', '/endsession']) {
      for (const page of ['http://localhost:5173', ...foreign]) expect(await answerTo('POST', path, page)).toEqual([403, null]);
    }
  });

  it('answers HEAD of its page as GET, without the body', async () => {
    const [asGet, asHead] = [await get('/local/issuer/sign-in'), await get('/local/issuer/sign-in', { method: 'HEAD' })];
    expect([asHead.status, asHead.headers.get('content-type')]).toEqual([asGet.status, asGet.headers.get('content-type')]);
    expect(await asHead.text()).toBe('');
  });

  it('leads back only to this service after a sign-out', async () => {
    const leave = (to: string) =>
      get(`/local/issuer/endsession?${String(new URLSearchParams({ post_logout_redirect_uri: to }))}`);
    expect((await leave(`${origin}/console/`)).headers.get('location')).toBe(`${origin}/console/`);
    expect((await leave('https://evil.example.com/')).status).toBe(400);
  });

  it('refuses a code without its verifier, or with another one', async () => {
    expect((await exchange({ grant_type: 'authorization_code', code: await codeFor() })).status).toBe(400);
    const another = 'x'.repeat(43);
    const answer = await exchange({ grant_type: 'authorization_code', code: await codeFor(), code_verifier: another });
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
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
