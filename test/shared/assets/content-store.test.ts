import { S3RequestPresigner } from '@aws-sdk/s3-request-presigner';
import { Sha256 } from '@smithy/core/checksum';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { localCredentials } from '../../../local/local-credentials.ts';
import {
  contentPrefixesOf,
  deleteContent,
  getContent,
  inlineKey,
  ownerOfContent,
  presignDownload,
  presignUpload,
  putContent,
  uploadKey,
  type ContentStore,
} from '../../../shared/assets/content-store.ts';
import { StorageError } from '../../../shared/assets/storage-request.ts';
import { systemClock } from '../../../shared/clock.ts';
import { Deadline } from '../../../shared/deadline.ts';
import { ServiceError } from '../../../shared/errors.ts';
import { toServiceError } from '../../../shared/http/problem.ts';
import {
  hangUp,
  silence,
  startAnsweringServer,
  status,
  type Answer,
  type AnsweringServer,
} from '../../support/answering-server.ts';
import { untilTestEnds } from '../../support/patience.ts';

let storage: AnsweringServer;
let store: ContentStore;

beforeAll(async () => {
  storage = await startAnsweringServer();
  store = {
    url: `${storage.endpoint}/content`,
    presigner: new S3RequestPresigner({ region: 'local', credentials: localCredentials, sha256: Sha256 }),
  };
});
afterAll(() => storage.stop());

const key = 'content/inline/d1/a/1';
const put = () => putContent(store, key, Buffer.from('a,b'));
const get = () => getContent(store, key);
const remove = () => deleteContent(store, key);
const within = (timeLimitInMilliseconds: number): ContentStore => ({ ...store, timeLimitInMilliseconds });

async function thrownBy(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}

const xml = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`;

describe('a request that storage refuses', () => {
  it.each([
    ['PUT', 403, 'AccessDenied', put],
    ['GET', 403, 'AccessDenied', get],
    ['DELETE', 403, 'AccessDenied', remove],
    ['PUT', 400, 'InvalidArgument', put],
    ['PUT', 404, 'NoSuchBucket', put],
    ['PUT', 412, 'PreconditionFailed', put],
    ['GET', 301, 'PermanentRedirect', get],
  ])('is not retried and throws its method, status and code: %s %s %s', async (method, code, name, work) => {
    storage.answerWith(status(code, xml(name)));
    const error = await thrownBy(work);
    expect(error).toBeInstanceOf(StorageError);
    expect(error).toMatchObject({ method, status: code, code: name, message: `Storage answered ${method} with ${code}.` });
    expect(storage.received).toEqual([method]);
  });

  it('becomes an internal error, because the service’s permissions or requests are wrong', async () => {
    storage.answerWith(status(403, xml('AccessDenied')));
    expect(toServiceError(await thrownBy(put)).code).toBe('internal');
  });
});

describe('a request while storage is busy or down', () => {
  it.each([
    ['answers 500', status(500)],
    ['answers 503 SlowDown', status(503, xml('SlowDown'))],
    ['answers 429', status(429)],
    ['answers 409 because of another request for the same key', status(409, xml('ConditionalRequestConflict'))],
    ['answers 400 RequestTimeout', status(400, xml('RequestTimeout'))],
    ['closes the connection', hangUp],
  ])('is sent three times and then throws unavailable, if storage %s', async (_what, answer) => {
    storage.answerWith(answer);
    const error = await thrownBy(put);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: 'unavailable', cause: expect.any(StorageError) });
    expect(storage.received).toEqual(['PUT', 'PUT', 'PUT']);
  });

  it('times out when storage is silent, is retried, and then throws unavailable', async () => {
    storage.answerWith(silence);
    const error = await thrownBy(() => getContent(within(500), key));
    expect(error).toMatchObject({
      code: 'unavailable',
      cause: { method: 'GET', cause: { name: 'TimeoutError', message: 'Storage was silent for 500 ms.' } },
    });
    await vi.waitFor(() => expect(storage.received).toEqual(['GET', 'GET', 'GET']), untilTestEnds);
  });

  it.each([
    ['503', status(503)],
    ['silence', silence],
    ['a closed connection', hangUp],
  ])('succeeds when a retry succeeds after %s', async (_what, answer) => {
    storage.answerWith(answer, status(200, 'a,b'));
    const response = await getContent(within(1_500), key);
    expect(await response?.text()).toBe('a,b');
    expect(storage.received).toEqual(['GET', 'GET']);
  });

  it('is sent again after a silence that has taken all the time of a request for conflicts with others', async () => {
    storage.answerWith(silence, status(200, 'a,b'));
    const deadline = () => new Deadline(60_000, systemClock, { retryTime: 100 });
    const response = await getContent({ ...within(1_500), deadline }, key);
    expect(await response?.text()).toBe('a,b');
    expect(storage.received).toEqual(['GET', 'GET']);
  });

  it('succeeds when an earlier attempt has written but its answer was lost', async () => {
    storage.answerWith(hangUp, status(412, xml('PreconditionFailed')));
    await put();
    expect(storage.received).toEqual(['PUT', 'PUT']);
  });

  it('is not sent again if there is no time for that', async () => {
    let now = 0;
    storage.answerWith((...answered) => {
      now = 60_000;
      return status(503)(...answered);
    });
    const late = { ...store, deadline: () => new Deadline(60_000, { ...systemClock, now: () => now }) };
    const error = await thrownBy(() => getContent(late, key));
    expect(error).toMatchObject({ code: 'unavailable', cause: { method: 'GET', status: 503 } });
    expect(storage.received).toEqual(['GET']);
  });

  it('is sent again if the connection is closed in the middle of the error response', async () => {
    const closing: Answer = (request, response) => {
      response.writeHead(503, { 'content-length': 8 }).write('<Er', () => hangUp(request, response));
    };
    storage.answerWith(closing, status(200, 'a,b'));
    expect(await (await get())?.text()).toBe('a,b');
    expect(storage.received).toEqual(['GET', 'GET']);
  });

  it('throws an error with the cause of a missing answer', async () => {
    storage.answerWith(hangUp);
    const { cause } = (await thrownBy(put)) as ServiceError;
    expect(cause).toMatchObject({
      method: 'PUT',
      status: undefined,
      cause: { message: 'fetch failed', cause: expect.any(Error) },
    });
  });
});

describe('the body of a storage answer', () => {
  it.each([
    ['falls silent', silence, 'TimeoutError'],
    ['closes the connection', hangUp, 'TypeError'],
  ])('throws unavailable when storage %s within it', async (_what, then, name) => {
    storage.answerWith((request, response) => {
      response.writeHead(200, { 'content-length': 8 }).write('a,b', () => then(request, response));
    });
    const response = await getContent(within(1_500), key);
    const error = await thrownBy(async () => await response?.text());
    expect(error).toMatchObject({ code: 'unavailable', cause: { name: 'StorageError', method: 'GET', cause: { name } } });
  });

  it('may take longer than the time limit, as long as each part arrives within it', async () => {
    const parts = Array.from({ length: 5 }, (_, index) => `${index},`);
    storage.answerWith((_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => {
        const part = parts.shift();
        if (part !== undefined) return void response.write(part);
        clearInterval(timer);
        response.end();
      }, 400);
    });
    const response = await getContent(within(1_500), key);
    expect(await response?.text()).toBe('0,1,2,3,4,');
  });
});

describe('putContent', () => {
  it('asks storage to refuse content under a name that is in use', async () => {
    const conditions: unknown[] = [];
    storage.answerWith((request, response) => {
      conditions.push(request.headers['if-none-match']);
      response.end();
    });
    await put();
    expect(conditions).toEqual(['*']);
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
  it('is undefined when it is read, and no error when it is deleted', async () => {
    storage.answerWith(status(404, xml('NoSuchKey')));
    expect(await get()).toBeUndefined();
    await remove();
    expect(storage.received).toEqual(['GET', 'DELETE']);
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
