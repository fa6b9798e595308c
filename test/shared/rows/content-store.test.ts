import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  contentPrefixesOf,
  deleteContent,
  getContent,
  inlineKey,
  openContentStore,
  ownerOfContent,
  presignDownload,
  presignUpload,
  putContent,
  uploadKey,
  type ContentStore,
} from '../../../shared/rows/content-store.ts';
import { forgetClients } from '../../../shared/runtime/clients.ts';
import { Deadline, systemClock } from '../../../shared/runtime/deadline.ts';
import { toServiceError } from '../../../shared/http/problem.ts';
import {
  hangUp,
  silence,
  startAnsweringServer,
  status,
  type Answer,
  type AnsweringServer,
} from '../../support/answering-server.ts';

let storage: AnsweringServer;
let store: ContentStore;

beforeAll(async () => {
  storage = await startAnsweringServer();
  forgetClients();
  vi.stubEnv('BUCKET_NAME', 'content');
  vi.stubEnv('AWS_REGION', 'local');
  vi.stubEnv('AWS_ENDPOINT_URL_S3', storage.endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  store = openContentStore(() => new Deadline(60_000));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  forgetClients();
  await storage.stop();
});

const key = 'content/inline/d1/a/1';
const put = () => putContent(store, key, Buffer.from('a,b'));
const get = () => getContent(store, key);
const remove = () => deleteContent(store, key);
const textOf = async (content: ReturnType<typeof get>) => await (await content)?.transformToString();

async function thrownBy(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}

const xml = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`;
const attempts = (method: string) => Array.from({ length: 6 }, () => method);

describe('a request that storage refuses', () => {
  it.each([
    ['PUT', 403, 'AccessDenied', put],
    ['GET', 403, 'AccessDenied', get],
    ['DELETE', 403, 'AccessDenied', remove],
    ['PUT', 400, 'InvalidArgument', put],
    ['PUT', 404, 'NoSuchBucket', put],
    ['GET', 404, 'NoSuchBucket', get],
    ['GET', 301, 'PermanentRedirect', get],
  ])('is not retried and throws an internal error with its code and status: %s %s %s', async (method, code, name, work) => {
    storage.answerWith(status(code, xml(name)));
    const error = await thrownBy(work);
    expect(error).toMatchObject({ name, $metadata: { httpStatusCode: code } });
    expect(toServiceError(error).code).toBe('internal');
    expect(storage.received).toEqual([method]);
  });
});

describe('a request while storage is busy or down', () => {
  it.each([
    ['answers 500', status(500)],
    ['answers 503 SlowDown', status(503, xml('SlowDown'))],
    ['answers 429', status(429)],
    ['answers 400 RequestTimeout', status(400, xml('RequestTimeout'))],
    ['closes the connection', hangUp],
  ])('is sent six times and then throws unavailable, if storage %s', async (_what, answer) => {
    storage.answerWith(answer);
    expect(toServiceError(await thrownBy(put)).code).toBe('unavailable');
    expect(storage.received).toEqual(attempts('PUT'));
  });

  it('throws unavailable at the deadline when storage is silent', async () => {
    storage.answerWith(silence);
    const error = await thrownBy(() => getContent({ ...store, deadline: () => new Deadline(500) }, key));
    expect(error).toMatchObject({ name: 'AbortError' });
    expect(toServiceError(error).code).toBe('unavailable');
  });

  it.each([
    ['503', status(503)],
    ['silence', silence],
    ['a closed connection', hangUp],
  ])('succeeds when a retry succeeds after %s', async (_what, answer) => {
    storage.answerWith(answer, status(200, 'a,b'));
    expect(await textOf(get())).toBe('a,b');
    expect(storage.received).toEqual(['GET', 'GET']);
  });

  it('is sent again after a silence that has taken all the time of a request for conflicts with others', async () => {
    storage.answerWith(silence, status(200, 'a,b'));
    const deadline = () => new Deadline(60_000, systemClock, { retryTime: 100 });
    expect(await textOf(getContent({ ...store, deadline }, key))).toBe('a,b');
    expect(storage.received).toEqual(['GET', 'GET']);
  });

  it('is sent again if the connection is closed in the middle of the error response', async () => {
    const closing: Answer = (request, response) => {
      response.writeHead(503, { 'content-length': 8 }).write('<Er', () => hangUp(request, response));
    };
    storage.answerWith(closing, status(200, 'a,b'));
    expect(await textOf(get())).toBe('a,b');
    expect(storage.received).toEqual(['GET', 'GET']);
  });
});

describe('the body of a storage answer', () => {
  it.each([
    ['falls silent', silence],
    ['closes the connection', hangUp],
  ])('throws unavailable when storage %s within it', async (_what, then) => {
    storage.answerWith((request, response) => {
      response.writeHead(200, { 'content-length': 8 }).write('a,b', () => then(request, response));
    });
    const content = await get();
    expect(toServiceError(await thrownBy(async () => await content?.transformToString())).code).toBe('unavailable');
  });

  it('may take longer than the deadline, as long as each part arrives in time', async () => {
    const parts = Array.from({ length: 15 }, (_, index) => `${index},`);
    const whole = parts.join('');
    storage.answerWith((_, response) => {
      response.writeHead(200).flushHeaders();
      const timer = setInterval(() => {
        const part = parts.shift();
        if (part !== undefined) return void response.write(part);
        clearInterval(timer);
        response.end();
      }, 400);
    });
    const late = await getContent({ ...store, deadline: () => new Deadline(5_000) }, key);
    expect(await late?.transformToString()).toBe(whole);
  });

  it('is returned as it was stored, whatever its headers say', async () => {
    storage.answerWith((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'x-amz-checksum-crc32': 'AAAAAA==' }).end('a,b');
    });
    expect(await textOf(get())).toBe('a,b');
  });
});

describe('putContent', () => {
  it('sends the content as it is, without trailers or checksums of its own', async () => {
    const sent: unknown[] = [];
    storage.answerWith((request, response) => {
      sent.push(
        Object.keys(request.headers).filter((name) => /^(?:content-encoding|trailer|x-amz-checksum|x-amz-sdk-ch)/.test(name)),
      );
      response.end();
    });
    await put();
    expect(sent).toEqual([[]]);
  });
});

describe('a presigned link', () => {
  const now = '2025-07-17T08:00:00.000Z';
  const inAnHour = '2025-07-17T09:00:00.000Z';

  it('is good for one upload within an hour', async () => {
    const { url, headers, expires_at, method } = await presignUpload(store, key, now);
    expect({ headers, expires_at, method }).toEqual({ headers: { 'if-none-match': '*' }, expires_at: inAnHour, method: 'PUT' });
    const query = new URL(url).searchParams;
    expect(query.get('X-Amz-Expires')).toBe('3600');
    expect(query.get('X-Amz-SignedHeaders')).toBe('host;if-none-match');
  });

  it('is good for downloads under the name of the asset within an hour', async () => {
    const { url, expires_at } = await presignDownload(store, key, "Ä'(1)*.csv", now);
    expect(expires_at).toBe(inAnHour);
    const query = new URL(url).searchParams;
    expect(query.get('X-Amz-Expires')).toBe('3600');
    expect(query.get('response-content-type')).toBe('application/octet-stream');
    expect(query.get('response-content-disposition')).toBe("attachment; filename*=UTF-8''%C3%84%27%281%29%2A.csv");
  });
});

describe('a missing object', () => {
  it('is undefined when it is read', async () => {
    storage.answerWith(status(404, xml('NoSuchKey')));
    expect(await get()).toBeUndefined();
    expect(storage.received).toEqual(['GET']);
  });
});

describe('a key of content', () => {
  it.each([
    ['inline', inlineKey],
    ['uploaded', uploadKey],
  ])('that is %s has one of the prefixes of its domain, and none of another one', (_way, keyOf) => {
    const found = ['d1', 'd', 'd10'].filter((domain) =>
      contentPrefixesOf('d1').some((prefix) => keyOf(domain, 'a').startsWith(prefix)),
    );
    expect(found).toEqual(['d1']);
    expect(ownerOfContent(keyOf('d1', 'a'))).toEqual({ domain: 'd1', assetId: 'a' });
  });
});
