import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../../local/machine/listen.ts';
import { createClient } from '../../../../packages/client/calls/create-client.ts';
import { loopbackSignIn } from '../../../../packages/client/node/loopback-sign-in.ts';
import { readClaims } from '../../../../packages/client/tokens/issuer.ts';
import { beginSignIn, completeSignIn, deviceSignIn, signOutPage } from '../../../../packages/client/tokens/sign-in.ts';
import { clientCredentials, keptToken, refreshTokens, signedIn } from '../../../../packages/client/tokens/token-sources.ts';
import { type IssuerServer, startIssuerServer } from '../../../support/issuer-server.ts';

let server: IssuerServer;
let issuer: string;
const application = () => ({ issuer, clientId: 'cms' });
const { signal } = new AbortController();

beforeAll(async () => {
  server = await startIssuerServer();
  ({ issuer } = server);
});
afterAll(() => server.stop());

function claimsOf(token: string | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
}

async function tokenFrom(source: ReturnType<typeof clientCredentials>, refused?: string): Promise<string> {
  return await source({ signal, ...(refused === undefined ? {} : { refused }) });
}

const openPage = async (url: string) => {
  await (await fetch(url)).text(); // the issuer signs in without a question, and redirects
};

describe('client credentials', () => {
  it('bring a token, which is kept until it is refused', async () => {
    const source = clientCredentials({ ...application(), clientSecret: 'secret', scope: 'api' });
    const [first, second] = await Promise.all([tokenFrom(source), tokenFrom(source)]);
    expect(claimsOf(first)).toMatchObject({ iss: issuer, scope: 'api' });
    expect([second, await tokenFrom(source)]).toEqual([first, first]);
    server.claims['jti'] = '2';
    expect(claimsOf(await tokenFrom(source, first))).toMatchObject({ jti: '2' });
    delete server.claims['jti'];
  });

  it("throw unauthenticated with the issuer's reason if the issuer refuses them", async () => {
    server.onNextTokens((answer) => {
      Object.assign(answer, { statusCode: 400, body: { error: 'invalid_client', error_description: 'The secret is wrong.' } });
    });
    await expect(tokenFrom(clientCredentials({ ...application(), clientSecret: 'wrong' }))).rejects.toMatchObject({
      name: 'ServiceProblem',
      code: 'unauthenticated',
      detail: 'The issuer refused: The secret is wrong.',
    });
  });
});

describe('an issuer that refuses client credentials', () => {
  const body = { error: 'invalid_client', error_description: 'The secret is wrong.' };
  const basic = 'Basic realm="issuer"';

  it.each([
    ['a challenge and a body', 401, basic, body, 401, 'unauthenticated', 'The issuer refused: The secret is wrong.'],
    [
      'a challenge that has a reason',
      401,
      'Bearer error="invalid_token", error_description="It was revoked."',
      '',
      401,
      'unauthenticated',
      'The issuer refused: It was revoked.',
    ],
    [
      'a challenge alone',
      401,
      basic,
      '<html>',
      401,
      'unauthenticated',
      'The issuer refused: It asks for authentication (basic).',
    ],
    ['a challenge and 429', 429, basic, { error: 'slow' }, 429, 'too_many_requests', 'The issuer refused: slow'],
    ['a body and 429', 429, undefined, { error: 'slow' }, 429, 'too_many_requests', 'The issuer refused: slow'],
    ['429 alone', 429, undefined, '<html>', 429, 'too_many_requests', expect.stringContaining('not as expected')],
    ['a challenge and 503', 503, basic, '', 503, 'unavailable', expect.stringContaining('The issuer refused: ')],
  ])('by %s is a problem with its reason', async (_, answered, challenge, answer, status, code, detail) => {
    const token = clientCredentials({
      ...application(),
      clientSecret: 'wrong',
      fetch: async (url, init) => {
        if (init?.method !== 'POST') return await fetch(url, init);
        const headers = { 'content-type': 'application/json', ...(challenge ? { 'www-authenticate': challenge } : {}) };
        return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer), { status: answered, headers });
      },
    });
    await expect(tokenFrom(token)).rejects.toMatchObject({ name: 'ServiceProblem', status, code, detail });
  });
});

describe('the sign-in of a user', () => {
  it('in a web page brings the tokens for the address at which the browser came back', async () => {
    const options = { ...application(), redirectUri: 'http://localhost:3000/console/', scope: 'openid' };
    const pending = await beginSignIn(options);
    expect(new URL(pending.url).searchParams.get('code_challenge_method')).toBe('S256');
    const answer = (await fetch(pending.url, { redirect: 'manual' })).headers.get('location') ?? '';
    const tokens = await completeSignIn(options, pending, answer);
    expect(claimsOf(tokens.id_token)).toMatchObject({ iss: issuer, aud: 'cms', nonce: pending.nonce });
    expect(tokens.expires_at).toBeGreaterThan(Date.now() / 1_000);
  });

  it('refuses an answer to another sign-in', async () => {
    const options = { ...application(), redirectUri: 'http://localhost:3000/console/' };
    const [mine, other] = [await beginSignIn(options), await beginSignIn(options)];
    const answer = (await fetch(other.url, { redirect: 'manual' })).headers.get('location') ?? '';
    await expect(completeSignIn(options, mine, answer)).rejects.toMatchObject({ code: 'unexpected' });
  });

  it('says both names of an issuer that is not the one that was asked', async () => {
    server.onNextMetadata(({ body }) => (body['issuer'] = 'https://other.example.com'));
    const detail = `The issuer's answer is not as expected: it names the issuer "https://other.example.com", not "${issuer}/".`;
    await expect(beginSignIn({ ...application(), redirectUri: 'http://localhost:1' })).rejects.toMatchObject({ detail });
  });

  it('says that clocks may differ where a token is not valid yet', async () => {
    server.onNextTokens(({ body }) => {
      const claims = { ...claimsOf(body['id_token'] as string), nbf: Date.now() / 1_000 + 90 };
      body['id_token'] = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`.replace(
        'e30',
        Buffer.from('{"alg":"RS256"}').toString('base64url'),
      );
    });
    await expect(loopbackSignIn({ ...application(), open: openPage })).rejects.toMatchObject({
      detail: expect.stringContaining('Compare the clock of this machine'),
    });
  });

  it('brings the tokens through a loopback listener', async () => {
    const strayed = async (url: string) => {
      const back = new URL(url).searchParams.get('redirect_uri') ?? '';
      const strays = ['?code=1', '?error=access_denied', '?error=x&state=other', '?code=1&state=', '/..?code=1'];
      for (const stray of strays) expect((await fetch(`${back}${stray}`)).status).toBe(404);
      const { port } = new URL(back);
      await once(
        connect(Number(port), '127.0.0.1').end('GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n').resume(),
        'end',
      );
      const state = new URL(url).searchParams.get('state') ?? '';
      const visit = `${back}?code=1&state=${state}`;
      for (const method of ['HEAD', 'OPTIONS', 'POST']) expect((await fetch(visit, { method })).status).toBe(404);
      expect((await fetch(visit, { headers: { purpose: 'prefetch' } })).status).toBe(404);
      await openPage(url);
    };
    const tokens = await loopbackSignIn({ ...application(), open: strayed });
    expect(claimsOf(tokens.access_token)).toMatchObject({ iss: issuer });
    expect(tokens.refresh_token).toEqual(expect.any(String));
  });

  it('ends with the reason of the issuer if it refuses', async () => {
    const open = async (url: string) => {
      const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
      const state = new URL(url).searchParams.get('state') ?? '';
      back.search = new URLSearchParams({ error: 'access_denied', error_description: 'Not you.', state, iss: issuer }).toString();
      expect(await (await fetch(back)).text()).toBe('The sign-in failed. The terminal says why.');
    };
    const denied = loopbackSignIn({ ...application(), open });
    await expect(denied).rejects.toMatchObject({ code: 'unauthenticated', detail: 'The issuer refused: Not you.' });
  });

  it('ends when its signal aborts', async () => {
    const ending = new AbortController();
    const signingIn = loopbackSignIn({ ...application(), open: () => ending.abort(new Error('enough')), signal: ending.signal });
    await expect(signingIn).rejects.toThrow('enough');
  });

  it('is refreshed before its token expires, and hands the new tokens over', async () => {
    const tokens = await loopbackSignIn({ ...application(), open: openPage });
    const kept: unknown[] = [];
    const source = signedIn(application(), { ...tokens, expires_at: Math.floor(Date.now() / 1_000) + 10 }, (next) => {
      kept.push(next);
    });
    const token = await tokenFrom(source);
    expect(kept).toMatchObject([{ access_token: token, refresh_token: expect.any(String) }]);
  });

  it('cannot be refreshed without a refresh token', async () => {
    const tokens = { access_token: 'a', expires_at: 0 };
    await expect(refreshTokens(application(), tokens)).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
  });
});

describe('signing out', () => {
  it("leads to the issuer's page with the token of the session, and back", async () => {
    const returnTo = 'http://localhost:3000/console/?signed-out';
    const page = new URL((await signOutPage({ ...application(), returnTo }, { id_token: 'a.b.c' })) ?? '');
    expect(`${page.origin}${page.pathname}`).toBe(`${issuer}/endsession`);
    expect(Object.fromEntries(page.searchParams)).toEqual({
      client_id: 'cms',
      post_logout_redirect_uri: returnTo,
      logout_uri: returnTo,
      id_token_hint: 'a.b.c',
    });
  });

  it('has no page at an issuer without one', async () => {
    server.onNextMetadata(({ body }) => {
      delete body['end_session_endpoint'];
    });
    expect(await signOutPage({ ...application(), returnTo: 'http://localhost:3000/' }, {})).toBeUndefined();
  });
});

describe('the claims of a token', () => {
  it('are read with letters of any language, without a look at the signature', () => {
    const payload = Buffer.from(JSON.stringify({ sub: 'Zoë 🐧', exp: 1 })).toString('base64url');
    expect(readClaims(`e30.${payload}.x`)).toEqual({ sub: 'Zoë 🐧', exp: 1 });
  });

  it.each(['', 'opaque', 'a.b.c', `e30.${Buffer.from('"text"').toString('base64url')}.x`])('are undefined in %j', (token) => {
    expect(readClaims(token)).toBeUndefined();
  });
});

describe('the sign-in by device', () => {
  it('shows a code and waits until the user has typed it, although one answer is lost, one is a 503 and one a 429', async () => {
    const answers = ['authorization_pending', 'lost', 'busy', 'throttled', 'authorization_pending'];
    const device = createServer((request, response) => {
      const origin = `http://${request.headers.host ?? ''}`;
      const send = (body: object, status = 200) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (request.url === '/device') {
        send({ device_code: 'd', user_code: 'ABCD', verification_uri: `${origin}/go`, expires_in: 60, interval: 0.01 });
      } else if (request.url === '/token') {
        const error = answers.shift();
        if (error === 'lost') request.socket.destroy();
        else if (error === 'busy') send({}, 503);
        else if (error === 'throttled') send({ error: 'too_many_requests' }, 429);
        else
          send(
            error === undefined ? { access_token: 'of-device', token_type: 'bearer', expires_in: 60 } : { error },
            error ? 400 : 200,
          );
      } else {
        send({ issuer: origin, token_endpoint: `${origin}/token`, device_authorization_endpoint: `${origin}/device` });
      }
    });
    const { endpoint, stop } = await listen(device, 0);
    const shown: string[] = [];
    const tokens = await deviceSignIn({
      issuer: endpoint,
      clientId: 'cms',
      scope: 'api',
      show: ({ user_code, verification_uri }) => shown.push(user_code, verification_uri),
    });
    expect(shown).toEqual(['ABCD', `${endpoint}/go`]);
    expect(tokens.access_token).toBe('of-device');
    await stop();
  });

  it('says that an issuer has none', async () => {
    const signingIn = deviceSignIn({ ...application(), show: () => expect.unreachable() });
    await expect(signingIn).rejects.toMatchObject({ detail: expect.stringContaining('does not support sign-in with a code') });
  });
});

describe('an issuer that does not answer', () => {
  it('is an unreachable problem, which the calls of a client retry', async () => {
    let asked = 0;
    const token = clientCredentials({
      ...application(),
      clientSecret: 'secret',
      fetch: async (url, init) => {
        asked++;
        if (asked === 1) throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
        return await fetch(url, init);
      },
    });
    const problems: string[] = [];
    const client = createClient({
      baseUrl: 'https://service.test',
      domain: 'd1',
      token,
      fetch: async () => Response.json({ id: 'c1' }),
      retry: { firstPauseInMilliseconds: 1, onRetry: ({ problem }) => void problems.push(`${problem.code}: ${problem.detail}`) },
    });
    expect(await client.getComputation({ id: 'c1' })).toEqual({ id: 'c1' });
    expect(problems).toEqual(['unreachable: No answer from the issuer: connect ECONNREFUSED']);
  });
});

describe('a kept token', () => {
  it('is renewed once for all that wait, and asked for again after a failure', async () => {
    let renewals = 0;
    const source = keptToken(async () => {
      renewals++;
      if (renewals === 1) throw new Error('not yet');
      return { access_token: `t${renewals}`, expires_at: Date.now() / 1_000 + 60 };
    });
    await expect(source({ signal })).rejects.toThrow('not yet');
    expect(await Promise.all([source({ signal }), source({ signal })])).toEqual(['t2', 't2']);
  });
});
