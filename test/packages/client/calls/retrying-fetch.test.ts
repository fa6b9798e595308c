import { afterEach, describe, expect, it, vi } from 'vitest';
import { createClient } from '../../../../packages/client/calls/create-client.ts';
import { pause } from '../../../../packages/client/calls/retry.ts';
import type { RetryOptions, Token } from '../../../../packages/client/calls/retrying-fetch.ts';
import { ServiceProblem } from '../../../../packages/client/calls/service-problem.ts';
import { watchEvents } from '../../../../packages/client/calls/watch.ts';
import { startAnsweringServer } from '../../../support/answering-server.ts';

const fast: RetryOptions = { firstPauseInMilliseconds: 1, longestPauseInMilliseconds: 2 };
const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const unavailable = (headers: Record<string, string> = {}) =>
  json({ status: 503, code: 'unavailable', detail: 'Busy.', request_id: 'r1' }, 503, headers);

/** A client whose requests get these answers, one after the other. An Error breaks the connection. */
function clientAnswered(answers: (Response | Error | 'never')[], retry: RetryOptions = {}, token: Token = 'secret') {
  const requests: Request[] = [];
  const client = createClient({
    baseUrl: 'https://service.test/',
    domain: 'd1',
    token,
    retry: { ...fast, ...retry },
    fetch: async (request) => {
      requests.push(request);
      const answer = answers.shift();
      if (answer === undefined) throw new Error('No answer is left.');
      if (answer instanceof Error) throw answer;
      if (answer === 'never')
        return await new Promise((_, reject) => (request.signal.onabort = () => reject(new Error('aborted'))));
      return answer;
    },
  });
  return { client, requests };
}

async function problemOf(call: Promise<unknown>): Promise<ServiceProblem> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceProblem)) throw new Error('No ServiceProblem was thrown.', { cause: error });
  return error;
}

const brokenBody = () =>
  new Response(new ReadableStream({ start: (controller) => controller.error(new Error('cut off')) }), { status: 200 });

/** An answer that says it has so many bytes, and whose parts come slowly. */
const inParts = (request: Request, parts: string[], bytes: number) =>
  new Response(
    new ReadableStream({
      pull: async (controller) => {
        await pause(250, request.signal);
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(part));
      },
    }),
    { headers: { 'content-length': String(bytes) } },
  );

describe('the requests of a client', () => {
  it('have the token, the path with its parameters, the query and the body', async () => {
    const { client, requests } = clientAnswered([json('run-1'), json({ id: 'c1' }, 201)]);
    await client.startRun({ id: 'c/1', cvm: 'sim 1' });
    await client.createComputation({ body: { name: 'Iris' }, domainID: 'd2' });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://service.test/d1/computations/c%2F1/run?cvm=sim%201',
      'POST https://service.test/d2/computations',
    ]);
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer secret');
    expect(await requests[1]?.json()).toEqual({ name: 'Iris' });
  });

  it('leave out parameters that are undefined', async () => {
    const { client, requests } = clientAnswered([json({ runs: [], limit: 10, offset: 0, total: 0 })]);
    await client.listRuns({ status: undefined, limit: 5 });
    expect(requests[0]?.url).toBe('https://service.test/d1/computations/runs?limit=5');
  });

  it.each(['', '.', '..'])('are not sent for the identifier "%s", which would change the path', async (id) => {
    const { client, requests } = clientAnswered([]);
    await expect(client.getComputation({ id })).rejects.toThrow(TypeError);
    expect(requests).toEqual([]);
  });
});

describe('the retries of a client', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('follow a broken connection, a 503 and a 429, with one Idempotency-Key and the whole body each time', async () => {
    const { client, requests } = clientAnswered([
      new TypeError('fetch failed'),
      unavailable(),
      json({ message: 'Too Many Requests' }, 429),
      json({ id: 'c1' }, 201),
    ]);
    await client.createComputation({ body: { name: 'Iris' } });
    expect(requests).toHaveLength(4);
    expect(new Set(requests.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    expect(await Promise.all(requests.map((request) => request.text()))).toEqual(Array(4).fill('{"name":"Iris"}'));
  });

  it('follow a response that breaks off', async () => {
    const { client } = clientAnswered([brokenBody(), json({ id: 'c1' })]);
    expect(await client.getComputation({ id: 'c1' })).toEqual({ id: 'c1' });
  });

  it('wait as long as Retry-After asks, in seconds or until a date', async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
    const pauses: number[] = [];
    const inThreeSeconds = new Date(Date.now() + 3_000).toUTCString();
    const { client, requests } = clientAnswered(
      [unavailable({ 'retry-after': '1' }), unavailable({ 'retry-after': inThreeSeconds }), json({ id: 'c1' })],
      { onRetry: ({ pauseInMilliseconds }) => void pauses.push(pauseInMilliseconds) },
    );
    const answer = client.getComputation({ id: 'c1' });
    await vi.advanceTimersByTimeAsync(2_999);
    expect(requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toEqual({ id: 'c1' });
    expect(pauses).toEqual([1_000, 2_000]);
  });

  it('end at a Retry-After of more than a minute', async () => {
    const { client, requests } = clientAnswered([unavailable({ 'retry-after': '61' })]);
    expect(await problemOf(client.listRuns())).toMatchObject({
      status: 503,
      code: 'unavailable',
      detail: 'Busy.',
      requestId: 'r1',
    });
    expect(requests).toHaveLength(1);
  });

  it('end after the given number of attempts, with the reason why no answer came', async () => {
    const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') });
    const { client } = clientAnswered([refused, refused, refused], { attempts: 3 });
    expect(await problemOf(client.listRuns())).toMatchObject({
      status: 0,
      code: 'unreachable',
      detail: 'No answer from https://service.test: connect ECONNREFUSED 127.0.0.1:1',
      request: 'GET /d1/computations/runs',
      cause: refused,
    });
  });

  it('end at once when the signal of the call aborts', async () => {
    const ending = new AbortController();
    const { client } = clientAnswered([unavailable({ 'retry-after': '50' })], {
      onRetry: () => ending.abort(new Error('enough')),
    });
    await expect(client.listRuns({ signal: ending.signal })).rejects.toThrow('enough');
  });

  it('follow an attempt that takes too long', async () => {
    const { client, requests } = clientAnswered(['never', json({ id: 'c1' })], { timeoutInMilliseconds: 20 });
    expect(await client.getComputation({ id: 'c1' })).toEqual({ id: 'c1' });
    expect(requests).toHaveLength(2);
  });

  it('follow an answer that takes too long, but leave a large one its time', async () => {
    let attempts = 0;
    const client = createClient({
      baseUrl: 'https://service.test',
      domain: 'd1',
      retry: { ...fast, timeoutInMilliseconds: 300 },
      fetch: async (request) =>
        ++attempts === 1 ? inParts(request, ['{"id":', '"a1"}'], 16) : inParts(request, ['{"id":', '"a2"}'], 16_000_000),
    });
    expect(await client.getAsset({ id: 'a1' })).toEqual({ id: 'a2' });
  });

  it.each([400, 401, 403, 404, 409, 412, 413, 415, 422, 500])('do not follow a %i', async (status) => {
    const { client, requests } = clientAnswered([json({ status, code: 'conflict', detail: 'No.' }, status)]);
    expect(await problemOf(client.deleteAsset({ id: 'a1' }))).toMatchObject({ status });
    expect(requests).toHaveLength(1);
  });
});

describe('a token', () => {
  it.each([301, 302, 303, 307, 308])('goes nowhere after a redirect with %i', async (status) => {
    const [service, other] = [await startAnsweringServer(), await startAnsweringServer()];
    service.answerWith((_, response) => void response.writeHead(status, { location: other.endpoint }).end());
    const client = createClient({ baseUrl: service.endpoint, domain: 'd1', token: 'secret' });
    const body = { name: 'Incomes', description: 'private' };
    expect(await problemOf(client.createComputation({ body }))).toMatchObject({
      status,
      code: 'unexpected',
      detail: 'The server redirects to another address. Neither the token nor the request goes there.',
    });
    expect(other.received).toEqual([]);
    await Promise.all([service.stop(), other.stop()]);
  });

  it.each(['a\u200b', 'a b', 'a\nb', '', 'é'])('that no header takes is refused with a sentence: %j', async (token) => {
    const { client, requests } = clientAnswered([], {}, async () => token);
    expect(await problemOf(client.listRuns())).toMatchObject({
      code: 'unauthenticated',
      detail: 'The token has characters that no token has.',
    });
    expect(requests).toEqual([]);
  });

  it('with too many memberships for a header is explained', async () => {
    const { client } = clientAnswered([new Response(null, { status: 431 })]);
    expect(await problemOf(client.listRuns())).toMatchObject({
      code: 'too_large',
      detail: expect.stringContaining('the token has too many memberships'),
    });
  });

  it.each(['http://api.example.com', 'http://user:secret@localhost', 'https://user@api.example.com', 'ftp://localhost', 'api'])(
    'never goes to %s, which the error does not repeat',
    (baseUrl) => {
      expect(() => createClient({ baseUrl })).toThrow(
        expect.objectContaining({ name: 'AddressError', message: expect.not.stringContaining('secret') }),
      );
    },
  );
});

describe('a token that is a function', () => {
  it('is asked for each attempt, and once more after a 401', async () => {
    const asked: (string | undefined)[] = [];
    const token: Token = async ({ refused }) => {
      asked.push(refused);
      return `token-${asked.length}`;
    };
    const { client, requests } = clientAnswered([json({ message: 'Unauthorized' }, 401), json({ id: 'c1' })], {}, token);
    await client.getComputation({ id: 'c1' });
    expect(asked).toEqual([undefined, 'token-1']);
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('leads to the 401 if it returns the refused token again', async () => {
    const { client, requests } = clientAnswered([json({ message: 'Unauthorized' }, 401)], {}, async () => 'same');
    expect(await problemOf(client.listRuns())).toMatchObject({ code: 'unauthenticated', detail: 'Unauthorized' });
    expect(requests).toHaveLength(1);
  });
});

describe('a ServiceProblem', () => {
  it('is thrown for a success that is not JSON, such as the sign-in page of a network, and watching goes on after it', async () => {
    const page = () => new Response('<h1>Sign in to the Wi-Fi</h1>', { status: 200 });
    expect(await problemOf(clientAnswered([page()]).client.listRuns())).toMatchObject({
      status: 200,
      code: 'unexpected',
      detail: "The answer has the status 200 and is not the service's: <h1>Sign in to the Wi-Fi</h1>",
    });
    const { client } = clientAnswered([page(), json({ events: [{ id: 'e1' }], total: 1 })]);
    expect(await watchEvents(client, { id: 'c1' }).next()).toMatchObject({ value: { id: 'e1' } });
  });

  it("tells an answer that is not the service's from its own", async () => {
    const page = new Response('<h1>Proxy</h1>', { status: 407, headers: { 'apigw-requestid': 'g1' } });
    expect(await problemOf(clientAnswered([page]).client.listRuns())).toMatchObject({
      status: 407,
      code: 'unexpected',
      requestId: 'g1',
      detail: "The answer has the status 407 and is not the service's: <h1>Proxy</h1>",
    });
    expect(await problemOf(clientAnswered([new Response(null, { status: 500 })]).client.listRuns())).toMatchObject({
      detail: "The answer has the status 500 and is not the service's.",
    });
  });
});
