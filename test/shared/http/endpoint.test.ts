import type { APIGatewayProxyEventV2WithJWTAuthorizer, Context } from 'aws-lambda';
import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import type { DeadlineSource } from '../../../shared/runtime/deadline.ts';
import { conflict, ServiceError } from '../../../shared/runtime/errors.ts';
import { endpoint, logFieldsOf } from '../../../shared/http/endpoint.ts';
import type { HttpResponse } from '../../../shared/http/problem.ts';
import { routes } from '../../../shared/endpoints/endpoints.ts';
import type { Route } from '../../../shared/http/route.ts';

const thing = { takesKey: false, method: 'PUT', path: '/{domainID}/things/{id}', summary: '', uses: {}, impact: '' } as const;
const route = { ...thing, name: 'things/put', access: { anyOf: ['edit'], or: ['owner'] } } as const;
const closed = { ...thing, name: 'things/close', access: { anyOf: ['edit'] } } as const;
const open = { method: 'GET', path: '/open', name: 'things/open', summary: '', uses: {}, impact: '' } as const;

const contract = {
  query: v.strictObject({ days: v.optional(v.pipe(v.string(), v.digits('Expected digits.'), v.transform(Number)), '7') }),
  body: v.strictObject({ name: v.string() }),
  bodyLimit: 100,
  status: 201,
  response: v.object({ shown: v.string() }),
} as const;

interface Sent {
  body?: string;
  /** The bytes of a body that is not text. API Gateway passes it in base64. */
  base64?: Buffer;
  query?: Record<string, string>;
  rawQuery?: string;
  headers?: Record<string, string>;
  claims?: Record<string, string>;
  domainID?: string;
  isBase64Encoded?: boolean;
  method?: string;
}

function eventOf(sent: Sent): APIGatewayProxyEventV2WithJWTAuthorizer {
  const {
    body = '{"name":"N"}',
    query,
    claims = { sub: 'alice', 'cognito:groups': '[d1:editor]' },
    domainID = 'd1',
    method = 'PUT',
  } = sent;
  const http = { method, path: '/', protocol: 'HTTP/1.1', sourceIp: '::1', userAgent: '' };
  const context = { requestId: 'r-1', http, authorizer: { jwt: { claims, scopes: [] } } };
  return {
    version: '2.0',
    routeKey: '',
    rawPath: '/',
    rawQueryString: sent.rawQuery ?? '',
    isBase64Encoded: sent.isBase64Encoded ?? false,
    body,
    headers: sent.headers ?? { 'content-type': 'application/json' },
    pathParameters: { domainID, id: 'x' },
    ...(query ? { queryStringParameters: query } : {}),
    requestContext: context,
  } as unknown as APIGatewayProxyEventV2WithJWTAuthorizer;
}

type Handler = (event: never, context: Context) => Promise<unknown>;

async function answerOf(handler: Handler, sent: Sent = {}) {
  const { statusCode, headers, body } = (await handler(eventOf(sent) as never, {} as Context)) as HttpResponse;
  return { statusCode, headers, body: (body === '' ? undefined : JSON.parse(body)) as Record<string, unknown> | undefined };
}

const echo = endpoint({ ...closed, ...contract }, ({ path, query, body, caller }) => ({
  body: { shown: `${path.domainID} ${path.id} ${query.days} ${body.name} ${caller.id}` },
  headers: { location: '/there' },
}));

describe('endpoint', () => {
  it('has one deadline for all operations of a request, and a new one for each operation of a request that waits', async () => {
    let isShared: boolean | undefined;
    const work = ({ deadline }: { deadline: DeadlineSource }) => {
      isShared = deadline() === deadline();
      return {};
    };
    await answerOf(endpoint(open, work));
    expect(isShared).toBe(true);
    await answerOf(endpoint({ ...open, waits: true }, work));
    expect(isShared).toBe(false);
  });

  it('passes parsed input to the work, and answers its result with the status and headers of the contract', async () => {
    expect(await answerOf(echo, { query: { days: '3', domainID: 'd1' } })).toEqual({
      statusCode: 201,
      headers: { 'content-type': 'application/json', 'x-request-id': 'r-1', 'cache-control': 'no-store', location: '/there' },
      body: { shown: 'd1 x 3 N alice' },
    });
  });

  it('takes different parameters and empty parts in the query', async () => {
    const sent = { query: { days: '3', domainID: 'd1' }, rawQuery: '&days=3&&domainID=d1&' };
    expect((await answerOf(echo, sent)).body).toEqual({ shown: 'd1 x 3 N alice' });
  });

  it('accepts brackets inside text, and a body that API Gateway has encoded', async () => {
    const name = `${'['.repeat(40)}"{{\\`;
    const body = JSON.stringify({ name });
    const inBase64 = { body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
    for (const sent of [{ body }, inBase64]) {
      expect((await answerOf(echo, sent)).body).toEqual({ shown: `d1 x 7 ${name} alice` });
    }
  });

  it('answers 400 to megabytes of brackets without parsing them', async () => {
    const large = { ...contract, bodyLimit: 6_000_000 } as const;
    const { statusCode, body } = await answerOf(
      endpoint({ ...closed, ...large }, () => ({ body: { shown: '' } })),
      { body: `${'['.repeat(2_500_000)}${']'.repeat(2_500_000)}` },
    );
    expect([statusCode, body?.['detail']]).toEqual([400, 'The body: Expected at most 32 levels of nesting.']);
  });

  it('leaves out of its answer what the contract does not have', async () => {
    const leaky = endpoint({ ...closed, ...contract }, () => ({ body: { shown: 'x', hidden: 'y' } }));
    expect((await answerOf(leaky)).body).toEqual({ shown: 'x' });
  });

  it('answers 500 when the work breaks the contract', async () => {
    const broken = endpoint({ ...closed, ...contract }, () => ({ body: { shown: 5 as unknown as string } }));
    expect((await answerOf(broken)).statusCode).toBe(500);
  });

  it.each([
    ['malformed JSON', { body: '{' }, 400, ''],
    ['no body', { body: '' }, 400, ''],
    ['an invalid body', { body: '{"name":1}' }, 400, '/name'],
    ['a field __proto__', { body: '{"name":"N","__proto__":{"name":"M"}}' }, 400, '/__proto__'],
    ['a field constructor that holds a prototype', { body: '{"name":"N","constructor":{"prototype":{}}}' }, 400, '/constructor'],
    ['33 levels of nesting', { body: `{"name":${'['.repeat(32)}${']'.repeat(32)}}` }, 400, ''],
    [
      'base64 of invalid UTF-8',
      { body: Buffer.from('{"name":"\xff"}', 'latin1').toString('base64'), isBase64Encoded: true },
      400,
      '',
    ],
    ['an unknown parameter', { query: { day: '1' } }, 400, 'query/day'],
    ['a parameter that is sent twice', { query: { days: '1,1' }, rawQuery: 'days=1&d%61ys=1' }, 400, 'query/days'],
    ['an unknown parameter that is sent twice', { query: { day: '1,1' }, rawQuery: 'day=1&day=1' }, 400, 'query/day'],
    ['another domain in the query', { query: { domainID: 'd2' } }, 400, 'query/domainID'],
    ['an invalid domain', { domainID: 'd 1' }, 400, 'path/domainID'],
  ])('answers 400 to %s and points to it', async (_what, sent, status, pointer) => {
    const { statusCode, body } = await answerOf(echo, sent);
    expect([statusCode, body?.['code']]).toEqual([status, 'invalid_request']);
    expect(body?.['errors']).toMatchObject([{ pointer }]);
  });

  it('says that a parameter was sent twice, not that its joined values are invalid', async () => {
    const { body } = await answerOf(echo, { query: { days: '1,2' }, rawQuery: 'days=1&days=2' });
    expect(body?.['detail']).toBe('query/days: Expected this parameter once.');
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'names %s as an unknown field',
    async (name) => {
      const fields = [`{"name":"N","${name}":{"prototype":{}}}`, `{"${name}":{"prototype":{}}}`];
      for (const body of fields) {
        expect((await answerOf(echo, { body })).body).toMatchObject({ detail: `/${name}: Unknown field.` });
      }
    },
  );

  it('says that the JSON of a body is malformed, also if the body is base64', async () => {
    const detail = 'The body: Expected well-formed JSON.';
    const malformed = '{\n  "name": x\n}';
    const encoded = { body: Buffer.from(malformed).toString('base64'), isBase64Encoded: true };
    for (const sent of [{ body: malformed }, encoded]) expect((await answerOf(echo, sent)).body).toMatchObject({ detail });
  });

  it.each([
    ['a body over the limit', { body: JSON.stringify({ name: 'x'.repeat(100) }) }, 413, 'too_large'],
    ['another content type', { headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
    [
      'a content type that begins as JSON',
      { headers: { 'content-type': 'application/json-seq' } },
      415,
      'unsupported_media_type',
    ],
    [
      'another content type without a body',
      { body: '', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_media_type',
    ],
    [
      'a content encoding',
      { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
      415,
      'unsupported_media_type',
    ],
    ['no content type', { headers: {} }, 415, 'unsupported_media_type'],
    ['no role in the domain', { claims: { sub: 'a', 'cognito:groups': '[d2:editor]' } }, 403, 'forbidden'],
    ['claims without a subject', { claims: { 'cognito:groups': '[d1:editor]' } }, 401, 'unauthenticated'],
  ])('answers with its problem to %s', async (_what, sent: Sent, status, code) => {
    const { statusCode, headers, body } = await answerOf(echo, sent);
    expect([statusCode, body?.['code'], headers['content-type']]).toEqual([status, code, 'application/problem+json']);
  });

  it('answers 403 before it reads the body, unless a relation may be enough', async () => {
    const viewer = { claims: { sub: 'alice', 'cognito:groups': '[d1:viewer]' } };
    const byRole = endpoint({ ...closed, ...contract }, () => ({ body: { shown: '' } }));
    const badBodies = [
      { body: '{' },
      { body: '' },
      { body: JSON.stringify({ name: 'x'.repeat(100) }) },
      { headers: { 'content-type': 'text/plain' } },
    ];
    for (const bad of badBodies) expect((await answerOf(byRole, { ...viewer, ...bad })).statusCode).toBe(403);
    const byOwner = endpoint({ ...route, ...contract }, ({ permit, body }) => ({
      permitted: permit({ owner: body.name }),
      body: { shown: '' },
    }));
    expect((await answerOf(byOwner, { ...viewer, body: '{"name":"alice"}' })).statusCode).toBe(201);
    expect((await answerOf(byOwner, { ...viewer, body: '{"name":"bob"}' })).statusCode).toBe(403);
  });

  it('answers errors of the work as a problem, and hides the message of an unexpected one', async () => {
    const throwing = (error: unknown) => endpoint({ ...route, ...contract }, () => Promise.reject(error as Error));
    expect((await answerOf(throwing(conflict('cvm_busy', 'Busy.', 'run-1')))).body).toMatchObject({
      status: 409,
      run_id: 'run-1',
    });
    const { statusCode, body } = await answerOf(throwing(new Error('secret')));
    expect([statusCode, body?.['code'], JSON.stringify(body).includes('secret')]).toEqual([500, 'internal', false]);
  });

  it('asked by HEAD tells the work, and answers a failure of it without a body', async () => {
    const asked: boolean[] = [];
    const fails = endpoint(open, ({ isHead }) => {
      asked.push(isHead);
      throw new Error('secret');
    });
    const answers = [await answerOf(fails, { method: 'GET' }), await answerOf(fails, { method: 'HEAD' })];
    expect(answers.map(({ statusCode, body }) => [statusCode, body === undefined])).toEqual([
      [500, false],
      [500, true],
    ]);
    expect(asked).toEqual([false, true]);
  });

  it('answers without a body if the contract has none, and requires no token on a public route', async () => {
    const empty = endpoint(open, ({ caller }) => (caller.id === '' ? {} : { headers: { 'x-caller': caller.id } }));
    const { statusCode, headers, body } = await answerOf(empty);
    expect([statusCode, headers, body]).toEqual([204, { 'x-request-id': 'r-1', 'cache-control': 'no-store' }, undefined]);
  });
});

describe('the type of an endpoint’s reply', () => {
  it('has a body exactly if the contract has a response', () => {
    // @ts-expect-error The contract has a response, the reply has no body.
    endpoint({ ...closed, ...contract }, () => ({}));
    // @ts-expect-error The contract has a response, the reply has no body.
    endpoint({ ...closed, ...contract }, async () => ({ headers: {} }));
    // @ts-expect-error The body does not match the response.
    endpoint({ ...closed, ...contract }, () => ({ body: { seen: '' } }));
    // @ts-expect-error The contract has no response, the reply has a body.
    endpoint(closed, () => ({ body: { shown: '' } }));
    endpoint(closed, () => ({}));
  });

  it('has an ETag exactly if the contract has one, and is not modified only if the contract has If-None-Match', () => {
    const tagged = { etag: true } as const;
    // @ts-expect-error The contract has an ETag, the reply has none.
    endpoint({ ...closed, ...tagged }, () => ({}));
    // @ts-expect-error The contract has no ETag, the reply has one.
    endpoint(closed, () => ({ etag: '"1"' }));
    // @ts-expect-error The contract does not evaluate If-None-Match.
    endpoint({ ...closed, ...contract, etag: true }, () => ({ etag: '"1"', notModified: true }));
    endpoint({ ...closed, ...tagged }, () => ({ etag: '"1"' }));
  });

  it('has the result of `permit` exactly if the endpoint is open to an owner or creator', () => {
    // @ts-expect-error The endpoint is open to the owner, and nothing has checked who the owner is.
    endpoint({ ...route, ...contract }, () => ({ body: { shown: '' } }));
    // @ts-expect-error The same without a body.
    endpoint(route, async () => ({}));
    // @ts-expect-error Only `permit` creates the proof.
    endpoint(route, () => ({ permitted: {} }));
    // @ts-expect-error A promise is not a proof.
    endpoint(route, ({ permit }) => ({ permitted: Promise.resolve(permit({})) }));
    endpoint(route, ({ permit }) => ({ permitted: permit({ owner: 'alice' }) }));
  });

  it('counts the requests that it answers 500 or 503, by endpoint and in total', async () => {
    const lines: Record<string, unknown>[] = [];
    vi.stubEnv('METRICS_NAMESPACE', 'Test');
    vi.stubEnv('STAGE', 'test');
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
      lines.push(JSON.parse(String(line)) as Record<string, unknown>);
      return true;
    });
    const failing = (error: Error) => endpoint({ ...closed, ...contract }, () => Promise.reject(error));
    for (const error of [new Error('a defect'), new ServiceError('unavailable', 'Busy.'), conflict('run_active', 'Refused.')]) {
      await answerOf(failing(error));
    }
    write.mockRestore();
    vi.unstubAllEnvs();
    const metric = {
      _aws: { CloudWatchMetrics: [{ Namespace: 'Test', Dimensions: [['stage', 'endpoint'], ['stage']] }] },
      stage: 'test',
      endpoint: 'things/close',
      domain: 'd1',
      RequestsFailed: 1,
    };
    expect(lines).toMatchObject([metric, metric]);
  });
});

const known = new Set(['domain', 'computation_id', 'asset_id', 'cvm_id']);
/** The names of the parameters in a path. No log has a secret. */
const parametersOf = ({ path }: Route) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).filter((name) => name !== 'secret');

describe('the log fields of a request', () => {
  it.each(routes)('have a stable name for each parameter of $method $path', (route: Route) => {
    const names = parametersOf(route);
    const fields = logFieldsOf(route, Object.fromEntries(names.map((name) => [name, `the ${name}`])));
    expect(Object.keys(fields).filter((name) => !known.has(name))).toEqual([]);
    expect(Object.values(fields)).toEqual(names.map((name) => `the ${name}`));
  });

  it.each([
    ['/{domainID}/computations/{id}', { domainID: 'd1', id: 'x' }, { domain: 'd1', computation_id: 'x' }],
    ['/{domainID}/assets/{id}', { domainID: 'd1', id: 'x' }, { domain: 'd1', asset_id: 'x' }],
    [
      '/{domainID}/assets/{id}/{computationID}',
      { domainID: 'd1', id: 'x', computationID: 'y' },
      { domain: 'd1', asset_id: 'x', computation_id: 'y' },
    ],
    ['/{domainID}/cvms/{cvmID}/commands', { domainID: 'd1', cvmID: 'x' }, { domain: 'd1', cvm_id: 'x' }],
    ['/health', undefined, {}],
  ])('name the resources of the path %s', (path, parameters, fields) => {
    expect(logFieldsOf({ path }, parameters)).toEqual(fields);
  });
});
