import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClosedDomains, type HttpApiOptions, startHttpApi } from '../../../local/http-api/http-api.ts';
import { type LocalIssuer, openIssuer } from '../../../local/sign-in/issuer.ts';
import { localFunctions } from '../../../local/functions/local-functions.ts';
import { routes as routesOfService } from '../../../shared/endpoints/endpoints.ts';
import { testClock } from '../../support/test-clock.ts';

type HttpEvent = APIGatewayProxyEventV2WithJWTAuthorizer;

const routes = [
  { name: 'things/list', method: 'GET', path: '/{domainID}/things', access: {} },
  { name: 'things/create', method: 'POST', path: '/{domainID}/things', access: {} },
  { name: 'things/get', method: 'GET', path: '/{domainID}/things/{id}', access: {} },
  { name: 'things/runs', method: 'GET', path: '/{domainID}/things/runs', access: {} },
  { name: 'link', method: 'POST', path: '/{domainID}/assets/{id}/{other}', access: {} },
  { name: 'fails', method: 'GET', path: '/fails' },
  { name: 'hangs', method: 'GET', path: '/hangs' },
  { name: 'nonsense', method: 'GET', path: '/nonsense' },
  { name: 'huge', method: 'GET', path: '/huge' },
  { name: 'bare', method: 'GET', path: '/bare' },
  { name: 'full', method: 'GET', path: '/full' },
  { name: 'cors', method: 'GET', path: '/cors' },
  { name: 'echo', method: 'POST', path: '/echo' },
  { name: 'changed', method: 'GET', path: '/changed' },
  { name: 'changed', method: 'POST', path: '/changed' },
  { name: 'silent', method: 'GET', path: '/silent' },
];

const app = 'https://app.example.com';
const clock = testClock();
const hanging = Promise.withResolvers<undefined>();
const handlers: Record<string, (event: HttpEvent) => unknown> = {
  fails: () => Promise.reject(new Error('secret')),
  hangs: () => {
    hanging.resolve(undefined);
    return new Promise(() => undefined);
  },
  nonsense: () => ({ statusCode: 'many' }),
  huge: () => ({ statusCode: 200, body: 'x'.repeat(6 * 1024 * 1024) }),
  bare: () => ({ hello: 'world' }),
  silent: () => ({ statusCode: 200, headers: { 'content-type': 'application/json' }, body: '' }),
  cors: () => ({ statusCode: 200, headers: { 'Access-Control-Allow-Origin': '*' }, body: '' }),
  full: () => ({
    statusCode: 203,
    headers: { 'X-Number': 5, 'content-type': 'image/png' },
    cookies: ['a=1', 'b=2'],
    body: Buffer.from([0, 255]).toString('base64'),
    isBase64Encoded: true,
  }),
};

/** The events that `echo` was given. */
const seen: unknown[] = [];
const echo = (event: unknown) => {
  seen.push(event);
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(event) };
};

let issuer: LocalIssuer;
let foreignIssuer: LocalIssuer;
let api: Awaited<ReturnType<typeof startHttpApi>>;
/** The same with CORS. */
let apiWithCors: typeof api;
/** An HTTP API with the routes of the service and a closed domain, whose functions return what they are given. */
let gated: typeof api;
const closedDomains = new ClosedDomains();
let authorization: string;

beforeAll(async () => {
  issuer = await openIssuer({ claim: 'cognito:groups' });
  foreignIssuer = await openIssuer({ claim: 'cognito:groups' });
  const options: HttpApiOptions = {
    routes,
    authorizer: { issuer: issuer.url, audience: issuer.audience, keys: issuer.keys },
    clock,
    invoke: localFunctions({
      clock,
      load: (name) =>
        Promise.resolve((event, context) => handlers[name]?.(event as HttpEvent) ?? echo({ ...(event as HttpEvent), context })),
    }),
    port: 0,
  };
  api = await startHttpApi(options);
  apiWithCors = await startHttpApi({ ...options, allowsOrigin: (origin) => origin === app });
  gated = await startHttpApi({ ...options, routes: routesOfService, closedDomains });
  authorization = `Bearer ${await issuer.mintToken({ sub: 'alice', groups: ['d1:viewer', 'd2:creator'] })}`;
});

afterAll(async () => {
  await api.stop();
  await apiWithCors.stop();
  await gated.stop();
});

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(api.endpoint + path, {
    ...init,
    headers: { authorization, ...(init.headers as Record<string, string> | undefined) },
  });
  return {
    response,
    event: (await response
      .clone()
      .json()
      .catch(() => undefined)) as HttpEvent,
  };
}

/** Sends a request exactly as written. `fetch` would normalize its path and headers. */
async function raw(method: string, path: string, headers: Record<string, string | string[]> = {}) {
  return await new Promise<{ status: number; body: string }>((resolve, reject) => {
    httpRequest({ port: api.port, host: '127.0.0.1', method, path, headers }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    })
      .once('error', reject)
      .end();
  });
}

describe('the event for a function', () => {
  it('has the fields of API Gateway’s payload format 2.0', async () => {
    const { event } = await call('/d1/things?limit=5&status=a&status=b%20c&empty=', {
      headers: { 'X-Some': 'Thing', cookie: 'a=1; b=2' },
    });
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: 'GET /{domainID}/things',
      rawPath: '/d1/things',
      rawQueryString: 'limit=5&status=a&status=b%20c&empty=',
      queryStringParameters: { limit: '5', status: 'a,b c', empty: '' },
      pathParameters: { domainID: 'd1' },
      cookies: ['a=1', 'b=2'],
      headers: { 'x-some': 'Thing', authorization, 'x-forwarded-proto': 'http' },
      requestContext: { http: { method: 'GET', path: '/d1/things' }, routeKey: 'GET /{domainID}/things', stage: '$default' },
      isBase64Encoded: false,
    });
    expect(event.headers).not.toHaveProperty('cookie');
    expect(event).not.toHaveProperty('body');
  });

  it('has the request id that the response returns', async () => {
    const { response, event } = await call('/d1/things');
    expect(response.headers.get('apigw-requestid')).toBe(event.requestContext.requestId);
  });

  it('has decoded path parameters', async () => {
    const { event } = await call('/d1/things/a%2Fb%20%C3%A9');
    expect(event.pathParameters).toEqual({ domainID: 'd1', id: 'a/b é' });
  });

  it('has a repeated header joined with commas', async () => {
    const { body } = await raw('GET', '/d1/things', { authorization, 'x-many': ['1', '2'] });
    expect((JSON.parse(body) as HttpEvent).headers['x-many']).toBe('1,2');
  });

  it('has every claim as one string, and an array as [a b]', async () => {
    const { event } = await call('/d1/things');
    expect(event.requestContext.authorizer.jwt.claims).toMatchObject({
      sub: 'alice',
      'cognito:groups': '[d1:viewer d2:creator]',
      iss: issuer.url,
      exp: expect.stringMatching(/^\d+$/),
    });
  });

  it('has a text body unchanged, and a binary body or invalid UTF-8 as base64', async () => {
    const json = await call('/echo', {
      method: 'POST',
      body: '{"é":1}',
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    expect(json.event).toMatchObject({ body: '{"é":1}', isBase64Encoded: false });
    const binary = await call('/echo', {
      method: 'POST',
      body: new Uint8Array([0, 255]),
      headers: { 'content-type': 'application/zip' },
    });
    expect(binary.event).toMatchObject({ body: 'AP8=', isBase64Encoded: true });
    const broken = await call('/echo', {
      method: 'POST',
      body: new Uint8Array([0x22, 0xff, 0x22]),
      headers: { 'content-type': 'application/json' },
    });
    expect(broken.event).toMatchObject({ body: 'Iv8i', isBase64Encoded: true });
  });

  it('is passed with a Lambda context', async () => {
    const { event } = await call('/d1/things');
    const { context } = event as unknown as { context: Record<string, unknown> };
    expect(context).toMatchObject({ functionName: 'things/list', functionVersion: '$LATEST' });
    expect(context['awsRequestId']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('routing', () => {
  it('selects a static segment before a parameter', async () => {
    expect((await call('/d1/things/runs')).event.routeKey).toBe('GET /{domainID}/things/runs');
    expect((await call('/d1/things/other')).event.routeKey).toBe('GET /{domainID}/things/{id}');
  });

  it.each([
    ['GET', '/'],
    ['GET', '/d1'],
    ['GET', '/d1/things/'],
    ['GET', '//things'],
    ['DELETE', '/d1/things'],
    ['HEAD', '/d1'],
    ['HEAD', '/echo'],
    ['HEAD', '/changed'],
    ['OPTIONS', '/d1/things'],
    ['TRACE', '/d1/things'],
    ['TRACE', '/bare'],
    ['GET', '/d1/things/a/b/c'],
  ])('answers 404 to %s %s with and without a token', async (method, path) => {
    for (const headers of [{ authorization }, {}] as Record<string, string>[]) {
      const { status, body } = await raw(method, path, headers);
      expect(status).toBe(404);
      if (method !== 'HEAD') expect(body).toBe('{"message":"Not Found"}');
    }
  });

  it('gives HEAD to the function of a GET that changes nothing, as a HEAD', async () => {
    const { status, headers } = await fetch(`${api.endpoint}/d1/things/1`, { method: 'HEAD', headers: { authorization } });
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    const { event } = await call('/d1/things/1');
    expect(seen.at(-2)).toMatchObject({
      routeKey: 'HEAD /{domainID}/things/{id}',
      requestContext: { http: { method: 'HEAD' }, routeKey: 'HEAD /{domainID}/things/{id}' },
      pathParameters: event.pathParameters,
    });
  });

  it('requires a token for HEAD where GET does', async () => {
    const { status, headers } = await fetch(`${api.endpoint}/d1/things/1`, { method: 'HEAD' });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  it('answers HEAD without content-length if the function leaves out the body, and GET with it', async () => {
    const lengthOf = async (method: string) => (await fetch(`${api.endpoint}/silent`, { method })).headers.get('content-length');
    expect([await lengthOf('HEAD'), await lengthOf('GET')]).toEqual([null, '0']);
  });

  it('answers 400 to malformed percent-encoding', async () => {
    expect(await raw('GET', '/d1/things/%zz', { authorization })).toEqual({ status: 400, body: '{"message":"Bad Request"}' });
    expect((await raw('GET', '/d1/things/%ff', { authorization })).status).toBe(400);
  });
});

describe('authorization', () => {
  const expectRefusal = async (header: string | undefined) => {
    const response = await fetch(`${api.endpoint}/d1/things`, {
      headers: header === undefined ? {} : { authorization: header },
    });
    expect(response.status).toBe(401);
    expect(await response.text()).toBe('{"message":"Unauthorized"}');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
  };

  it('answers 401 without a token', () => expectRefusal(undefined));
  it('answers 401 to another scheme', () => expectRefusal('Basic YWxpY2U6cHc='));
  it('answers 401 to a malformed token', () => expectRefusal('Bearer a.b.c'));
  it('answers 401 to a token as soon as it has expired', async () =>
    expectRefusal(`Bearer ${await issuer.mintToken({ sub: 'a', groups: [], expiresInSeconds: 0 })}`));
  it('answers 401 to a token that it has accepted before, once that has expired', async () => {
    const header = `Bearer ${await issuer.mintToken({ sub: 'a', groups: [], expiresInSeconds: 5 })}`;
    const statusNow = async () => (await fetch(`${api.endpoint}/d1/things`, { headers: { authorization: header } })).status;
    expect(await statusNow()).toBe(200);
    await expect.poll(statusNow).toBe(401);
    await expectRefusal(header);
  });
  it('answers 401 to a token for another audience', async () =>
    expectRefusal(`Bearer ${await issuer.mintToken({ sub: 'a', groups: [], audience: 'other' })}`));
  it('answers 401 to a token of another issuer', async () =>
    expectRefusal(`Bearer ${await foreignIssuer.mintToken({ sub: 'a', groups: [] })}`));
  it('answers 401 to an unsigned token', async () => {
    const [, payload] = authorization.split('.');
    await expectRefusal(`Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`);
  });
  it('answers 401 to a token whose claims were changed', async () => {
    const [header, , signature] = authorization.split('.');
    const { event } = await call('/d1/things');
    const payload = { ...event.requestContext.authorizer.jwt.claims, exp: 9_999_999_999, sub: 'root' };
    await expectRefusal(`${header}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.${signature}`);
  });
  it('requires no token on a public route', async () => {
    expect((await fetch(`${api.endpoint}/bare`)).status).toBe(200);
  });
});

describe('the HTTP API', () => {
  const post = async (bytes: number, type: string) => {
    const response = await fetch(`${api.endpoint}/echo`, {
      method: 'POST',
      body: 'x'.repeat(bytes),
      headers: { 'content-type': type },
    });
    return { status: response.status, body: await response.text() };
  };
  const tooLarge = { status: 413, body: '{"message":"Request Entity Too Large"}' };
  const broken = { status: 500, body: '{"message":"Internal Server Error"}' };

  it('answers 413 to a body over 10 MB', async () => expect(await post(10 * 1024 * 1024 + 1, 'text/plain')).toEqual(tooLarge));
  it('answers 413 to an event over 6 MB', async () => expect(await post(5 * 1024 * 1024, 'application/zip')).toEqual(tooLarge));
  it('answers 500 when a result is over 6 MB', async () => expect(await raw('GET', '/huge')).toEqual(broken));
  it('answers 500 when a handler throws, without the message', async () => expect(await raw('GET', '/fails')).toEqual(broken));
  it('answers 503 when a function takes longer than 30 seconds', async () => {
    const answer = raw('GET', '/hangs');
    await hanging.promise;
    clock.move(30_000);
    expect(await answer).toEqual({ status: 503, body: '{"message":"Service Unavailable"}' });
  });
  it('answers 500 when a result is not a response', async () => expect(await raw('GET', '/nonsense')).toEqual(broken));
});

describe('the response of the HTTP API', () => {
  it('is the result as JSON when that has no statusCode', async () => {
    const response = await fetch(`${api.endpoint}/bare`);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'application/json',
      '{"hello":"world"}',
    ]);
  });

  it.each([
    ['a function', 'GET', '/bare', 200],
    ['a function that fails', 'GET', '/fails', 500],
    ['the authorizer', 'GET', '/d1/things', 401],
    ['the routes', 'GET', '/none', 404],
    ['the routes to HEAD', 'HEAD', '/echo', 404],
    ['the routes to malformed percent-encoding', 'GET', '/d1/things/%zz', 400],
  ])('has the request id in both headers if it comes from %s', async (_what, method, path, status) => {
    const { status: answered, headers } = await fetch(api.endpoint + path, { method });
    const requestId = headers.get('x-request-id');
    expect([answered, headers.get('apigw-requestid')]).toEqual([status, requestId]);
    expect(requestId).toMatch(/^[\w+/=]{16}$/);
  });

  it('has the request id in both headers if the body is too large', async () => {
    const { status, headers } = await fetch(`${api.endpoint}/echo`, {
      method: 'POST',
      body: 'x'.repeat(10 * 1024 * 1024 + 1),
    });
    expect([status, headers.get('x-request-id')]).toEqual([413, headers.get('apigw-requestid')]);
    expect(headers.has('x-request-id')).toBe(true);
  });

  it('has the status, headers, cookies and bytes of a result with statusCode', async () => {
    const response = await fetch(`${api.endpoint}/full`);
    expect(response.status).toBe(203);
    expect(response.headers.get('x-number')).toBe('5');
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255]);
  });
});

describe('CORS', () => {
  const preflight = (path: string, origin: string, headers = 'authorization,content-type,if-match') =>
    fetch(apiWithCors.endpoint + path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': headers },
    });
  const corsOf = ({ headers }: Response) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));

  it('answers the preflight of an allowed page with 204, without a token', async () => {
    const response = await preflight('/d1/things/1', app);
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(response.headers.get('access-control-allow-origin')).toBe(app);
    expect(response.headers.get('access-control-allow-methods')?.split(',')).toEqual(['GET', 'POST', 'PUT', 'DELETE']);
    expect(response.headers.get('access-control-max-age')).toBe('3600');
    expect(response.headers.get('access-control-allow-headers')?.split(',')).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'if-match',
        'if-none-match',
        'idempotency-key',
        'hx-request',
        'hx-target',
        'hx-trigger',
        'hx-current-url',
      ]),
    );
  });

  it('answers every OPTIONS request with 204, and tells a page of another origin nothing', async () => {
    for (const path of ['/d1/things', '/no/such/path/at/all']) {
      const response = await preflight(path, 'https://other.example.com');
      expect([response.status, corsOf(response)]).toEqual([204, []]);
    }
  });

  it.each([
    ['a function', '/bare', 200],
    ['the authorizer', '/d1/things', 401],
    ['the routes', '/none', 404],
    ['a function that fails', '/fails', 500],
  ])('lets an allowed page read the answer of %s', async (_what, path, status) => {
    const response = await fetch(apiWithCors.endpoint + path, { headers: { origin: app } });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([status, app]);
    expect(response.headers.get('access-control-expose-headers')?.split(',')).toEqual(
      expect.arrayContaining([
        'etag',
        'x-request-id',
        'apigw-requestid',
        'location',
        'hx-location',
        'retry-after',
        'idempotent-replayed',
        'manifest-digest',
        'configuration-digest',
        'date',
      ]),
    );
  });

  it('adds nothing to the answer of a request without Origin or from another one', async () => {
    for (const headers of [{}, { origin: 'https://other.example.com' }]) {
      expect(corsOf(await fetch(`${apiWithCors.endpoint}/bare`, { headers }))).toEqual([]);
    }
  });

  it('replaces the headers of a function', async () => {
    expect(corsOf(await fetch(`${apiWithCors.endpoint}/cors`))).toEqual([]);
    const response = await fetch(`${apiWithCors.endpoint}/cors`, { headers: { origin: app } });
    expect(response.headers.get('access-control-allow-origin')).toBe(app);
  });
});

describe('while a domain is removed', () => {
  const send = (method: string, path: string) => fetch(gated.endpoint + path, { method, headers: { authorization } });

  beforeAll(() => closedDomains.close('removed'));

  it('refuses what the functions of changes serve, also by GET, and passes on reads, dry runs and reports', async () => {
    const differing: string[] = [];
    for (const { method, path } of routesOfService.filter((route) => route.path.startsWith('/{domainID}/'))) {
      const { status } = await send(method, path.replace('{domainID}', 'removed').replace(/\{\w+\}/g, 'x'));
      if ((status === 429) !== (method !== 'GET')) differing.push(`${status} ${method} ${path}`);
      else expect([200, 429]).toContain(status);
    }
    expect(differing.sort()).toEqual([
      '200 POST /{domainID}/computations/{id}/dryrun',
      '200 POST /{domainID}/cvms/{cvmID}/reports',
      '200 POST /{domainID}/kbs/v0/attest', // changes nothing that lasts
      '200 POST /{domainID}/kbs/v0/auth',
      '429 GET /{domainID}/computations/{id}/stop',
    ]);
  });

  it('says why and when to try again, as on AWS', async () => {
    const response = await send('POST', '/removed/computations');
    expect(await response.json()).toMatchObject({
      status: 429,
      code: 'too_many_requests',
      detail: 'The domain removed is being removed. You cannot change anything in it until the removal is complete.',
      request_id: response.headers.get('apigw-requestid'),
    });
    expect(response.headers.get('retry-after')).toBe('60');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });

  it('passes on the changes of other domains', async () => {
    expect((await send('POST', '/d1/computations')).status).toBe(200);
  });
});
