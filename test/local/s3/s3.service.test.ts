import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localCredentials } from '../../../local/machine/environment.ts';
import { amount } from '../../support/amounts.ts';
import { startS3, type LocalS3 } from '../../../local/s3/s3.ts';

const Bucket = 'content';
const app = 'https://app.example.com';
const created: string[] = [];
/** The bytes of a body of many chunks. */
const many = amount({ sample: 1, full: 20 }) * 1024 * 1024 + 7;
let s3: LocalS3;
let client: S3Client;

const clientOf = (endpoint: string, region = 'local') => new S3Client({ endpoint, region, credentials: localCredentials });

beforeAll(async () => {
  s3 = await startS3({
    bucket: Bucket,
    notifiedPrefix: 'n/',
    onObjectCreated: (key) => created.push(key),
    allowsOrigin: (origin) => origin === app,
  });
  client = clientOf(s3.endpoint);
});

afterAll(async () => {
  client.destroy();
  await s3.stop();
});

async function presignedPut(Key: string, expiresIn = 60) {
  const command = new PutObjectCommand({ Bucket, Key, IfNoneMatch: '*' });
  return await getSignedUrl(client, command, { expiresIn, unhoistableHeaders: new Set(['if-none-match']) });
}

const put = (url: string, body: NonNullable<RequestInit['body']>, headers: Record<string, string> = { 'if-none-match': '*' }) =>
  fetch(url, { method: 'PUT', body, headers });

async function content(Key: string, of = client) {
  const { Body } = await of.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

describe('an upload in chunks, without its length', () => {
  it('is refused with 501 as on AWS, and nothing is stored', async () => {
    const headers = { 'if-none-match': '*', 'transfer-encoding': 'chunked' };
    const sent = request(await presignedPut('n/chunked'), { method: 'PUT', headers });
    sent.end('hello');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect([response.statusCode, await text(response)]).toEqual([501, expect.stringContaining('<Code>NotImplemented</Code>')]);
    await expect(content('n/chunked')).rejects.toMatchObject({ name: 'NoSuchKey' });
    expect(created).toEqual([]);
  });
});

describe('an SDK client of the local S3', () => {
  it('writes, reads, lists and deletes objects without forcePathStyle', async () => {
    const { ETag } = await client.send(new PutObjectCommand({ Bucket, Key: 'a/plain', Body: Buffer.from('hello') }));
    expect(String(await content('a/plain'))).toBe('hello');
    expect(await client.send(new HeadObjectCommand({ Bucket, Key: 'a/plain' }))).toMatchObject({ ETag, ContentLength: 5 });
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/' }));
    expect(Contents).toMatchObject([{ Key: 'a/plain', Size: 5, ETag, LastModified: expect.any(Date) }]);
    for (const _ of [1, 2]) await client.send(new DeleteObjectCommand({ Bucket, Key: 'a/plain' }));
    await expect(content('a/plain')).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  it('lists all objects of a prefix in the order of their keys, page by page', async () => {
    const keys = ['l/1', 'l/2 & <3>', 'l/3"+ü', 'l/4', 'l/5'];
    for (const Key of ['l', ...keys, 'l0'].reverse()) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const found: unknown[] = [];
    for await (const { Contents = [] } of paginateListObjectsV2({ client, pageSize: 2 }, { Bucket, Prefix: 'l/' }))
      found.push(Contents.map(({ Key }) => Key));
    expect(found).toEqual([keys.slice(0, 2), keys.slice(2, 4), keys.slice(4)]);
  });

  it('gets 412 for a second write with If-None-Match', async () => {
    const command = () => new PutObjectCommand({ Bucket, Key: 'a/once', Body: Buffer.from('1'), IfNoneMatch: '*' });
    await client.send(command());
    await expect(client.send(command())).rejects.toMatchObject({
      name: 'PreconditionFailed',
      $metadata: { httpStatusCode: 412 },
    });
  });

  it.each([
    ['a copy', () => client.send(new CopyObjectCommand({ Bucket, Key: 'a/copy', CopySource: `${Bucket}/a/once` })), 501],
    ['an upload in parts', () => client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'a/parts' })), 501],
    [
      'a deletion of several objects',
      () => client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'a/once' }] } })),
      501,
    ],
    ['another bucket', () => client.send(new GetObjectCommand({ Bucket: 'other', Key: 'a/once' })), 404],
  ])('is refused %s, which the service does not use', async (_what, send, httpStatusCode) => {
    await expect(send()).rejects.toMatchObject({ $metadata: { httpStatusCode } });
  });
});

describe('a request signed in a header', () => {
  /** Sends the request of an SDK client, changed by `change` after it was signed. */
  const changed = (
    change: (request: { method: string; headers: Record<string, string>; path: string }) => void,
    secret: string = localCredentials.secretAccessKey,
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
    ['of many chunks', many],
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

  it.each([
    ['after', -901_000],
    ['before', 901_000],
  ])('is refused with AccessDenied 15 minutes %s it was signed, and not a minute off', async (_, systemClockOffset) => {
    const of = (offset: number) =>
      new S3Client({ endpoint: s3.endpoint, region: 'local', credentials: localCredentials, systemClockOffset: offset });
    const [wrong, off] = [of(systemClockOffset), of(Math.sign(systemClockOffset) * 60_000)];
    const command = new GetObjectCommand({ Bucket, Key: 'h/object' });
    await expect(wrong.send(command)).rejects.toMatchObject({ name: 'AccessDenied' });
    expect((await off.send(command)).$metadata.httpStatusCode).toBe(200);
    for (const client of [wrong, off]) client.destroy();
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

  it.each([
    'application/x-www-form-urlencoded',
    'application/x-amz-json-1.0',
    'application/json',
    'multipart/form-data; boundary=x',
    'text/csv; charset=utf-8',
    'nonsense',
    '',
  ])('stores a small and a large body with the content type %j', async (type) => {
    for (const body of [Buffer.from('a=1&b=%zz'), Buffer.alloc(many, 'a=1& ')]) {
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

  it('stores a body with its Content-MD5, and refuses (400 BadDigest) one with another', async () => {
    const url = await presignedPut('p/md5');
    const refused = await put(url, 'content', { 'if-none-match': '*', 'content-md5': createHash('md5').digest('base64') });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('<Code>BadDigest</Code>')]);
    const md5 = createHash('md5').update('content').digest('base64');
    expect((await put(url, 'content', { 'if-none-match': '*', 'content-md5': md5 })).status).toBe(200);
  });

  it('stores nothing when the body breaks off', async () => {
    const url = await presignedPut('p/broken');
    const headers = { 'if-none-match': '*', 'content-length': 2 * many };
    const sent = request(url, { method: 'PUT', headers });
    const failed = once(sent, 'error');
    sent.write(new Uint8Array(many), () => sent.destroy(new Error('broken off')));
    await failed;
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

  it.each([
    ['after it has expired', -61_000, 'Request has expired'],
    ['before it is valid', 901_000, 'Request is not valid yet'],
  ])('is refused %s', async (_, offset, message) => {
    const signingDate = new Date(Date.now() + offset);
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'p/late' }), { expiresIn: 60, signingDate });
    const response = await put(url, 'x', {});
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining(message)]);
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

  it.each([
    ['bytes=4-', 'efgh', 'bytes 4-7/8'],
    ['bytes=2-3', 'cd', 'bytes 2-3/8'],
    ['bytes=6-99', 'gh', 'bytes 6-7/8'],
    ['bytes=-3', 'fgh', 'bytes 5-7/8'],
  ])('answers 206 with the range %s', async (range, part, contentRange) => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'd/range', Body: Buffer.from('abcdefgh') }));
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'd/range' }), { expiresIn: 60 });
    const response = await fetch(url, { headers: { range } });
    expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual([206, contentRange, part]);
    expect((await fetch(url, { headers: { range: 'bytes=8-' } })).status).toBe(416);
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
  });

  it('of another origin, or without a presigned request, is refused and changes nothing', async () => {
    const url = await presignedPut('p/of-other');
    const plain = `${s3.endpoint}/${Bucket}/p/of-page`;
    for (const [method, to, origin] of [
      ['PUT', url, 'https://other.example.com'],
      ['OPTIONS', url, 'https://other.example.com'],
      ['PUT', url, 'null'],
      ['GET', plain, app],
      ['OPTIONS', plain, app],
      ['POST', `${s3.endpoint}/${Bucket}?delete`, app],
    ] as const) {
      const headers = { origin, 'if-none-match': '*', 'access-control-request-method': 'PUT' };
      const answer = await fetch(to, { method, headers, ...(method === 'PUT' ? { body: 'abc' } : {}) });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    }
    expect((await put(url, 'of a program')).status).toBe(200);
  });
});

describe('a created object', () => {
  it('is announced by its key if it has the prefix', async () => {
    for (const Key of ['n/a b+ü', 'm/a']) await client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from('12345') }));
    expect(created).toEqual(['n/a b+ü']);
  });
});

describe('a data directory of the local S3', () => {
  /** Starts on a directory, works, and stops. */
  async function onFiles<T>(dataDirectory: string, work: (client: S3Client) => Promise<T>): Promise<T> {
    const started = await startS3({ bucket: Bucket, dataDirectory, notifiedPrefix: 'none/', onObjectCreated: () => undefined });
    const client = clientOf(started.endpoint);
    try {
      return await work(client);
    } finally {
      client.destroy();
      await started.stop();
    }
  }

  it('keeps objects after a restart, each as it was written last, and no other files', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 's3-'));
    const body = Buffer.alloc(9 * 1024 * 1024, 7);
    const keys = ['k/large', 'k/small', 'k/empty', 'k/deleted'];
    const tags = await onFiles(dataDirectory, async (client) => {
      await client.send(new PutObjectCommand({ Bucket, Key: 'k/large', Body: body }));
      for (const Body of ['old', 'kept']) await client.send(new PutObjectCommand({ Bucket, Key: 'k/small', Body }));
      for (const Key of keys.slice(2)) await client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(0) }));
      await client.send(new DeleteObjectCommand({ Bucket, Key: 'k/deleted' }));
      return (await client.send(new ListObjectsV2Command({ Bucket }))).Contents;
    });
    const files = readdirSync(join(dataDirectory, 's3')).sort();
    expect(files).toHaveLength(6);
    for (const left of ['content.data', 'metadata.json.unfinished'])
      writeFileSync(join(dataDirectory, 's3', left), 'left by a crash');
    await onFiles(dataDirectory, async (client) => {
      expect(String(await content('k/small', client))).toBe('kept');
      expect((await content('k/large', client)).equals(body)).toBe(true);
      expect(await content('k/empty', client)).toHaveLength(0);
      expect((await client.send(new ListObjectsV2Command({ Bucket }))).Contents).toEqual(tags);
      expect(readdirSync(join(dataDirectory, 's3')).sort()).toEqual(files);
    });
    rmSync(dataDirectory, { recursive: true });
  });

  it.each(['../'.repeat(5) + 'outside', '/outside', 'a//b', '.'])('has an object with the key %s inside of it', async (Key) => {
    const parent = mkdtempSync(join(tmpdir(), 's3-'));
    writeFileSync(join(parent, 'outside'), 'old');
    const dataDirectory = join(parent, 'data');
    await onFiles(dataDirectory, async (client) => {
      client.middlewareStack.add(
        (next) => (args) => {
          // No client of the SDK sends this path by itself.
          Object.assign(args.request as object, { path: `/${Bucket}/${encodeURIComponent(Key)}` });
          return next(args);
        },
        { step: 'build' },
      );
      await client.send(new PutObjectCommand({ Bucket, Key: 'x', Body: Buffer.from('new') }));
      expect(String(await content('x', client))).toBe('new');
      await client.send(new DeleteObjectCommand({ Bucket, Key: 'x' }));
    });
    expect([readdirSync(parent).sort(), String(readFileSync(join(parent, 'outside')))]).toEqual([['data', 'outside'], 'old']);
    expect(existsSync(join(parent, 'data', 's3'))).toBe(true);
    rmSync(parent, { recursive: true });
  });
});
