import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { S3Event } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localCredentials } from '../../../local/local-credentials.ts';
import { startS3, type LocalS3 } from '../../../local/s3/s3.ts';

const Bucket = 'content';
const app = 'https://app.example.com';
const events: S3Event[] = [];
let s3: LocalS3;
let client: S3Client;

const clientOf = (endpoint: string, region = 'local') => new S3Client({ endpoint, region, credentials: localCredentials });

beforeAll(async () => {
  s3 = await startS3({
    bucket: Bucket,
    notifiedPrefix: '',
    onObjectCreated: (event) => events.push(event),
    allowsOrigin: (origin) => origin === app,
  });
  client = clientOf(s3.endpoint);
});

afterAll(async () => {
  client.destroy();
  await s3.stop();
});

const eventOf = (key: string) => events.find((event) => event.Records[0]?.s3.object.key === key)?.Records[0];

async function presignedPut(Key: string, expiresIn = 60) {
  const command = new PutObjectCommand({ Bucket, Key, IfNoneMatch: '*' });
  return await getSignedUrl(client, command, { expiresIn, unhoistableHeaders: new Set(['if-none-match']) });
}

const put = (url: string, body: NonNullable<RequestInit['body']>, headers: Record<string, string> = { 'if-none-match': '*' }) =>
  fetch(url, { method: 'PUT', body, headers });

async function content(Key: string) {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

describe('an SDK client of the local S3', () => {
  it('writes, reads and lists objects without forcePathStyle', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'a/plain', Body: Buffer.from('hello') }));
    expect(String(await content('a/plain'))).toBe('hello');
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/' }));
    expect(Contents?.map((object) => object.Key)).toContain('a/plain');
  });

  it('gets 412 for a second write with If-None-Match', async () => {
    const command = () => new PutObjectCommand({ Bucket, Key: 'a/once', Body: Buffer.from('1'), IfNoneMatch: '*' });
    await client.send(command());
    await expect(client.send(command())).rejects.toMatchObject({
      name: 'PreconditionFailed',
      $metadata: { httpStatusCode: 412 },
    });
  });
});

describe('a request signed in a header', () => {
  /** Sends the request of an SDK client, changed by `change` after it was signed. */
  const changed = (
    change: (request: { method: string; headers: Record<string, string>; path: string }) => void,
    secret = 'local',
  ) => {
    const other = new S3Client({
      endpoint: s3.endpoint,
      region: 'local',
      credentials: { accessKeyId: 'local', secretAccessKey: secret },
    });
    other.middlewareStack.add(
      (next) => (args) => {
        change(args.request as never);
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
    return other.send(new PutObjectCommand({ Bucket, Key: 'h/object', Body: Buffer.from('1') })).finally(() => other.destroy());
  };

  it('is accepted when it is unchanged', async () => {
    await changed(() => undefined);
    expect(String(await content('h/object'))).toBe('1');
  });

  it.each([
    ['with another secret', () => undefined, 'wrong', 'SignatureDoesNotMatch'],
    ['to another key', (request) => (request.path = request.path.replace('object', 'other')), 'local', 'SignatureDoesNotMatch'],
    ['with a changed header', (request) => (request.headers['x-amz-content-sha256'] = '0'), 'local', 'SignatureDoesNotMatch'],
    ['with an unsigned x-amz- header', (request) => (request.headers['x-amz-acl'] = 'public-read'), 'local', 'AccessDenied'],
    ['with a made-up signature', (request) => (request.headers['authorization'] = 'AWS4-HMAC-SHA256 x'), 'local', 'AccessDenied'],
  ] satisfies [string, Parameters<typeof changed>[0], string, string][])(
    'is refused (403) %s',
    async (_, change, secret, name) => {
      await expect(changed(change, secret)).rejects.toMatchObject({ name, $metadata: { httpStatusCode: 403 } });
    },
  );

  /** Sends the request of an SDK client with another body than it was signed with. The lengths are the same. */
  const withBody = (signed: Buffer, sent: Buffer, Key: string) => {
    const other = clientOf(s3.endpoint);
    other.middlewareStack.add(
      (next) => (args) => {
        Object.assign(args.request as object, { body: sent });
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
    return other.send(new PutObjectCommand({ Bucket, Key, Body: signed })).finally(() => other.destroy());
  };

  it.each([
    ['small', 5],
    ['sent in parts', 20 * 1024 * 1024],
  ])('is refused with XAmzContentSHA256Mismatch if its body (%s) is another one, and stores nothing', async (kind, size) => {
    const Key = `h/${kind}`;
    await expect(withBody(Buffer.alloc(size, 'a'), Buffer.alloc(size, 'b'), Key)).rejects.toMatchObject({
      name: 'XAmzContentSHA256Mismatch',
      $metadata: { httpStatusCode: 400 },
    });
    await expect(content(Key)).rejects.toMatchObject({ name: 'NoSuchKey' });
    await withBody(Buffer.alloc(size, 'a'), Buffer.alloc(size, 'a'), Key);
    expect(await content(Key)).toHaveLength(size);
  });

  it('deletes nothing if it is a POST whose body is another one', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'h/kept', Body: Buffer.from('1') }));
    const other = clientOf(s3.endpoint);
    other.middlewareStack.add(
      (next) => (args) => {
        const request = args.request as { body: string };
        request.body = request.body.replace('h/gone', 'h/kept');
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
    await expect(
      other.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'h/gone' }] } })),
    ).rejects.toMatchObject({ name: 'XAmzContentSHA256Mismatch' });
    expect(String(await content('h/kept'))).toBe('1');
    other.destroy();
  });

  it('is refused with AccessDenied 15 minutes after it was signed', async () => {
    const late = new S3Client({
      endpoint: s3.endpoint,
      region: 'local',
      credentials: localCredentials,
      systemClockOffset: -901_000,
    });
    await expect(late.send(new GetObjectCommand({ Bucket, Key: 'h/object' }))).rejects.toMatchObject({ name: 'AccessDenied' });
    late.destroy();
  });
});

describe('a presigned upload', () => {
  it('answers 403 to an unsigned x-amz-copy-source, and copies nothing', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'p/other-domain', Body: Buffer.from('confidential') }));
    const headers = { 'if-none-match': '*', 'x-amz-copy-source': `/${Bucket}/p/other-domain` };
    const response = await put(await presignedPut('p/copy'), '', headers);
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('not signed')]);
    await expect(content('p/copy')).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  it('stores the first body, and answers 412 to the second', async () => {
    const url = await presignedPut('p/once');
    expect((await put(url, '{"a":1}', { 'if-none-match': '*', 'content-type': 'application/json' })).status).toBe(200);
    expect((await put(url, 'other')).status).toBe(412);
    expect(String(await content('p/once'))).toBe('{"a":1}');
  });

  it('succeeds for exactly one of several requests at the same time', async () => {
    const url = await presignedPut('p/race');
    const statuses = await Promise.all(['1', '2', '3', '4'].map(async (body) => (await put(url, body)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.every((status) => [200, 409, 412].includes(status))).toBe(true);
  });

  it('stores a body larger than the engine accepts in one request', async () => {
    const body = Buffer.alloc(20 * 1024 * 1024 + 7, 'confidential ');
    expect((await put(await presignedPut('p/large'), body)).status).toBe(200);
    expect((await content('p/large')).equals(body)).toBe(true);
    await expect
      .poll(() => eventOf('p/large'))
      .toMatchObject({ eventName: 'ObjectCreated:Put', s3: { object: { size: body.length } } });
  });

  it.each([
    'application/x-www-form-urlencoded',
    'application/x-amz-json-1.0',
    'application/json',
    'multipart/form-data; boundary=x',
    'text/csv; charset=utf-8',
    'nonsense',
    '',
  ])('stores a small and a large body with the content type %j', async (type) => {
    for (const body of [Buffer.from('a=1&b=%zz'), Buffer.alloc(9 * 1024 * 1024, 'a=1&')]) {
      const key = `p/type-${body.length}-${type.length}`;
      const response = await put(await presignedPut(key), body, { 'if-none-match': '*', 'content-type': type });
      expect([response.status, await response.text()]).toEqual([200, '']);
      expect((await content(key)).equals(body)).toBe(true);
    }
  });

  it('stores an empty body', async () => {
    expect((await put(await presignedPut('p/empty'), '')).status).toBe(200);
    expect(await content('p/empty')).toHaveLength(0);
  });

  it('stores nothing when the body breaks off', async () => {
    const url = await presignedPut('p/broken');
    const sending = new AbortController();
    let mebibytes = 0;
    const body = new ReadableStream({
      pull: async (controller) => {
        controller.enqueue(new Uint8Array(1024 * 1024));
        await new Promise(setImmediate);
        if (++mebibytes === 20) sending.abort();
      },
    });
    const init = { method: 'PUT', body, headers: { 'if-none-match': '*' }, duplex: 'half', signal: sending.signal };
    await expect(fetch(url, init as RequestInit)).rejects.toThrow();
    await expect.poll(async () => (await put(url, 'again')).status).toBe(200);
    expect(String(await content('p/broken'))).toBe('again');
  });

  it.each([
    ['without a header that it was signed with', (url: string) => put(url, 'x', {}), 'SignatureDoesNotMatch'],
    ['for another key', (url: string) => put(url.replace('p/forged', 'p/other'), 'x'), 'SignatureDoesNotMatch'],
    ['with another method', (url: string) => fetch(url, { headers: { 'if-none-match': '*' } }), 'SignatureDoesNotMatch'],
    ['without a signature', (url: string) => put(url.split('?')[0] ?? '', 'x'), 'AccessDenied'],
  ])('is refused (403) %s', async (_, send, code) => {
    const response = await send(await presignedPut('p/forged'));
    expect(response.status).toBe(403);
    expect(await response.text()).toContain(`<Code>${code}</Code>`);
  });

  it('is refused after it has expired', async () => {
    const signingDate = new Date(Date.now() - 61_000);
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'p/late' }), { expiresIn: 60, signingDate });
    const response = await put(url, 'x', {});
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('Request has expired')]);
  });
});

describe('a presigned download', () => {
  it('returns the object with the response headers that it was signed with', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'd/file', Body: Buffer.from('abc') }));
    const command = new GetObjectCommand({
      Bucket,
      Key: 'd/file',
      ResponseContentType: 'text/csv',
      ResponseContentDisposition: `attachment; filename*=UTF-8''iris%20(1).csv`,
    });
    const response = await fetch(await getSignedUrl(client, command, { expiresIn: 60 }));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv');
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename*=UTF-8''iris%20(1).csv`);
    expect(await response.text()).toBe('abc');
  });

  it('answers 404 for a missing object', async () => {
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'd/none' }), { expiresIn: 60 });
    expect((await fetch(url)).status).toBe(404);
  });
});

describe('a web page', () => {
  const preflight = async (method: string, headers: string, origin = app) => {
    const response = await fetch(await presignedPut('p/page'), {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': headers },
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  it('may upload: its preflight names the allowed methods and headers', async () => {
    const { status, headers } = await preflight('PUT', 'content-type, If-None-Match');
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe(app);
    expect(headers.get('access-control-allow-methods')).toBe('GET, PUT');
    expect(headers.get('access-control-allow-headers')).toBe('content-type, if-none-match');
  });

  it.each([
    ['another origin', 'PUT', 'content-type', 'https://other.example.com'],
    ['another method', 'DELETE', 'content-type', app],
    ['another header', 'PUT', 'x-amz-acl', app],
  ])('is refused (403) with %s', async (_what, method, headers, origin) => {
    const answer = await preflight(method, headers, origin);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    expect(answer.text).toContain('<Code>AccessForbidden</Code>');
  });

  it('may read the answers to its upload and download, also the refusals', async () => {
    const url = await presignedPut('p/of-page');
    const upload = () => put(url, 'abc', { 'if-none-match': '*', origin: app });
    const answers = [await upload(), await upload()];
    const command = new GetObjectCommand({ Bucket, Key: 'p/of-page' });
    answers.push(await fetch(await getSignedUrl(client, command, { expiresIn: 60 }), { headers: { origin: app } }));
    expect(answers.map(({ status, headers }) => [status, headers.get('access-control-allow-origin')])).toEqual([
      [200, app],
      [412, app],
      [200, app],
    ]);
    expect(await answers[2]?.text()).toBe('abc');
    const other = await put(await presignedPut('p/of-other'), 'abc', {
      'if-none-match': '*',
      origin: 'https://other.example.com',
    });
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });
});

describe('a created object', () => {
  it('causes a notification with its key URL-encoded', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'n/a b+ü', Body: Buffer.from('12345') }));
    await expect
      .poll(() => eventOf('n/a+b%2B%C3%BC'))
      .toMatchObject({
        eventSource: 'aws:s3',
        eventName: 'ObjectCreated:Put',
        s3: { bucket: { name: Bucket }, object: { size: 5, eTag: '827ccb0eea8a706c4c34a16891f84e7b' } },
      });
  });

  it('causes a notification of a copy when it is copied', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'n/from', Body: Buffer.from('1') }));
    await client.send(new CopyObjectCommand({ Bucket, Key: 'n/to', CopySource: `${Bucket}/n/from` }));
    await expect.poll(() => eventOf('n/to')?.eventName).toBe('ObjectCreated:Copy');
  });
});

describe('a data directory of the local S3', () => {
  it('keeps objects after a restart', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 's3-'));
    const first = await startS3({ bucket: Bucket, dataDirectory, notifiedPrefix: 'none/', onObjectCreated: () => undefined });
    const body = Buffer.alloc(9 * 1024 * 1024, 7);
    await clientOf(first.endpoint).send(new PutObjectCommand({ Bucket, Key: 'k/large', Body: body }));
    await clientOf(first.endpoint).send(new PutObjectCommand({ Bucket, Key: 'k/small', Body: Buffer.from('kept') }));
    await first.stop();

    const second = await startS3({ bucket: Bucket, dataDirectory, notifiedPrefix: 'none/', onObjectCreated: () => undefined });
    const read = async (Key: string) => {
      const { Body } = await clientOf(second.endpoint).send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    };
    expect(String(await read('k/small'))).toBe('kept');
    expect((await read('k/large')).equals(body)).toBe(true);
    await second.stop();
    rmSync(dataDirectory, { recursive: true });
  });

  const outside = '../'.repeat(5) + 'outside';
  /** Asks for `outside` with a path that has the slashes encoded, as no client of the SDK sends it by itself. */
  const encoded = (client: S3Client) =>
    client.middlewareStack.add(
      (next) => (args) => {
        Object.assign(args.request as object, { path: `/${Bucket}/${outside.replaceAll('/', '%2F')}` });
        return next(args);
      },
      { step: 'build' },
    );

  it.each<[string, (client: S3Client) => Promise<unknown>]>([
    [
      'a PUT with %2F in its path',
      async (client) => {
        encoded(client);
        await client.send(new PutObjectCommand({ Bucket, Key: 'x', Body: Buffer.from('new') }));
      },
    ],
    [
      'a DELETE with %2F in its path',
      async (client) => {
        encoded(client);
        await client.send(new DeleteObjectCommand({ Bucket, Key: 'x' }));
      },
    ],
    [
      'a POST that deletes what its body names',
      async (client) => await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: outside }] } })),
    ],
  ])('answers 400 to %s if the key leads out of it, and changes no file there', async (_what, send) => {
    const parent = mkdtempSync(join(tmpdir(), 's3-'));
    const files = ['outside.data', 'outside.meta.json'].map((name) => join(parent, name));
    for (const file of files) writeFileSync(file, 'old');
    const dataDirectory = join(parent, 'data');
    const onFiles = await startS3({ bucket: Bucket, dataDirectory, notifiedPrefix: 'none/', onObjectCreated: () => undefined });
    const client = clientOf(onFiles.endpoint);
    const answered = await send(client).catch((error: unknown) => error);
    client.destroy();
    await onFiles.stop();
    expect(files.map((file) => existsSync(file) && String(readFileSync(file)))).toEqual(['old', 'old']);
    expect(answered).toMatchObject({ $metadata: { httpStatusCode: 400 } });
    rmSync(parent, { recursive: true });
  });
});
