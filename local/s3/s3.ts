import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AllowsOrigin } from '../http-api/http-messages.ts';
import { listen, type Listening } from '../machine/listen.ts';
import { checkedBody, checkSignature } from './check-signature.ts';
import { ObjectStore, type StoredObject, S3Error } from './object-store.ts';
import { contentCors } from '../../shared/http/cors.ts';

export type LocalS3 = Pick<Listening, 'endpoint' | 'answerFor' | 'stop'>;

interface S3Options {
  bucket: string;
  /** The name of a second bucket, for the log of the stage. Default: there is none. */
  logBucket?: string;
  /**
   * The data directory of the service, whose folder `s3` has the objects of the first bucket, and `log` those of the second.
   * Default: the objects are in memory.
   */
  dataDirectory?: string | undefined;
  /** The prefix of the keys whose new objects `onObjectCreated` is called for. */
  notifiedPrefix: string;
  onObjectCreated: (key: string) => void;
  /** Says whether web pages of an origin may use presigned requests. Default: none may. */
  allowsOrigin?: AllowsOrigin;
}

/**
 * Starts object storage with one bucket or two. Their objects are private: they are written, read, listed and deleted by signed requests,
 * and by presigned requests of clients and web pages.
 */
export async function startS3(options: S3Options): Promise<LocalS3> {
  const { dataDirectory, bucket, logBucket } = options;
  const storeIn = (folder: string, withoutIt: string) =>
    new ObjectStore(dataDirectory === undefined ? undefined : join(dataDirectory, folder), withoutIt);
  const stores = new Map([[bucket, storeIn('s3', 'Without it, the content of one asset is lost.')]]);
  if (logBucket !== undefined)
    stores.set(logBucket, storeIn('log', 'Without it, a part of the log is lost, and it cannot go on.'));
  return await listen(
    createServer((request, response) => void answer(request, response, { ...options, stores })),
    0,
  );
}

type Storage = S3Options & { store: ObjectStore };
type Stores = S3Options & { stores: ReadonlyMap<string, ObjectStore> };

async function answer(request: IncomingMessage, response: ServerResponse, storage: Stores): Promise<void> {
  const { allowsOrigin = () => false } = storage;
  try {
    refuseOtherPages(request, allowsOrigin);
    setCorsHeaders(request, response, allowsOrigin);
    if (request.method === 'OPTIONS') answerPreflight(request, response, allowsOrigin);
    else await act(request, response, storage);
  } catch (error) {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const refusal = error instanceof S3Error ? error : new S3Error(500, 'InternalError', String(error));
    if (refusal.status === 500) process.stderr.write(`${refusal.message}\n`);
    const xml = `<Error><Code>${refusal.code}</Code><Message>${escaped(refusal.message)}</Message></Error>`;
    response.writeHead(refusal.status, { 'content-type': 'application/xml' }).end(request.method === 'HEAD' ? '' : xml);
  }
}

async function act(request: IncomingMessage, response: ServerResponse, { stores, ...options }: Stores): Promise<void> {
  const body = checkedBody(request, await checkSignature(request));
  const [path = '', queryText = ''] = (request.url ?? '').split('?', 2);
  const query = new URLSearchParams(queryText);
  const [, bucket = '', ...rest] = path.split('/').map(decodeURIComponent);
  const store = stores.get(bucket);
  if (!store) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist');
  const storage = { ...options, bucket, store };
  const key = rest.join('/');
  const hasOther = ['uploads', 'uploadId', 'versionId'].some((name) => query.has(name)) || 'x-amz-copy-source' in request.headers;
  switch (hasOther ? undefined : `${request.method} ${key === '' ? 'bucket' : 'object'}`) {
    case 'PUT object':
      return await putObject({ key, body, request, response, storage });
    case 'GET object':
    case 'HEAD object':
      return await getObject({ key, query, request, response, storage });
    case 'DELETE object':
      storage.store.delete(key);
      return void response.writeHead(204).end();
    case 'GET bucket':
      return listObjects(query, response, storage);
    default:
      throw new S3Error(501, 'NotImplemented', 'Object storage on one machine does not support this.');
  }
}

interface ObjectRequest {
  key: string;
  request: IncomingMessage;
  response: ServerResponse;
  storage: Storage;
}

async function putObject({ key, body, request, response, storage }: ObjectRequest & { body: AsyncIterable<Buffer> }) {
  const { store, notifiedPrefix, onObjectCreated } = storage;
  const {
    'if-none-match': ifNoneMatch,
    'if-match': mustMatch,
    'content-encoding': encoding,
    'transfer-encoding': transfer,
  } = request.headers;
  if (transfer !== undefined) throw new S3Error(501, 'NotImplemented', `The transfer-encoding ${transfer} is not supported.`);
  const { etag } = await store.put(key, body, { mustBeNew: ifNoneMatch === '*', mustMatch, encoding });
  response.writeHead(200, { etag }).end();
  if (key.startsWith(notifiedPrefix)) onObjectCreated(key);
}

async function getObject({ key, query, request, response, storage }: ObjectRequest & { query: URLSearchParams }): Promise<void> {
  const object = storage.store.find(key);
  if (!object) throw new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
  const range = rangeOf(request.headers.range, object);
  const { start, end } = range ?? { start: 0, end: object.size - 1 };
  const asked = [...query].filter(([name]) => name.startsWith('response-'));
  response.writeHead(range ? 206 : 200, {
    'content-type': 'binary/octet-stream',
    'content-length': end - start + 1,
    'accept-ranges': 'bytes',
    ...(object.encoding === undefined ? {} : { 'content-encoding': object.encoding }),
    etag: object.etag,
    'last-modified': new Date(object.last_modified).toUTCString(),
    ...(range ? { 'content-range': `bytes ${start}-${end}/${object.size}` } : {}),
    ...Object.fromEntries(asked.map(([name, value]) => [name.slice('response-'.length), value])),
  });
  if (request.method === 'HEAD') response.end();
  else await pipeline(storage.store.read(key, { start, end }), response);
}

/**
 * Returns the first and the last byte of the range that a `range` header asks for, or undefined without a valid range. @throws
 * S3Error 416 if the range is outside of the object
 */
function rangeOf(header: string | undefined, { size }: StoredObject): { start: number; end: number } | undefined {
  const [all, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (all === undefined || (first === '' && last === '')) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (start > end) throw new S3Error(416, 'InvalidRange', 'The requested range is not satisfiable');
  return { start, end };
}

const mostKeys = 1_000;

function listObjects(query: URLSearchParams, response: ServerResponse, { bucket, store }: Storage): void {
  const prefix = query.get('prefix') ?? '';
  const limit = Math.min(mostKeys, Number(query.get('max-keys') ?? mostKeys));
  const found = store.list({ prefix, after: query.get('continuation-token') ?? '', limit: limit + 1 });
  const objects = found.slice(0, limit);
  const isTruncated = found.length > limit;
  const contents = objects.map(
    ({ key, last_modified, etag, size }) =>
      `<Contents><Key>${escaped(key)}</Key><LastModified>${last_modified}</LastModified><ETag>${escaped(etag)}</ETag>` +
      `<Size>${size}</Size></Contents>`,
  );
  const next = isTruncated ? `<NextContinuationToken>${escaped(objects.at(-1)?.key ?? '')}</NextContinuationToken>` : '';
  response
    .writeHead(200, { 'content-type': 'application/xml' })
    .end(
      `<ListBucketResult><Name>${bucket}</Name><Prefix>${escaped(prefix)}</Prefix><KeyCount>${objects.length}</KeyCount>` +
        `<MaxKeys>${limit}</MaxKeys><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    );
}

function escaped(text: string): string {
  return text.replace(/[<>&"\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

const { methods, allowHeaders, exposeHeaders, maxAgeInSeconds } = contentCors;

/** Sets the headers that S3 adds to its answer if a CORS rule of the bucket allows the request's origin and method. */
function setCorsHeaders(request: IncomingMessage, response: ServerResponse, allowsOrigin: AllowsOrigin): void {
  const { origin } = request.headers;
  if (origin === undefined || !allowsOrigin(origin) || !isMethod(request.method)) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-allow-methods', methods.join(', '));
  response.setHeader('access-control-expose-headers', exposeHeaders.join(', '));
  response.setHeader('vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method');
}

/**
 * Refuses requests of web pages, except for presigned requests of pages of allowed origins. @throws S3Error 403 if the request is
 * refused
 */
function refuseOtherPages({ url = '', headers: { origin } }: IncomingMessage, allowsOrigin: AllowsOrigin): void {
  const isPresigned = new URLSearchParams(url.split('?', 2)[1]).has('X-Amz-Signature');
  if (origin === undefined || (isPresigned && allowsOrigin(origin))) return;
  throw new S3Error(403, 'AccessForbidden', 'CORSResponse: This CORS request is not allowed.');
}

/**
 * Answers a CORS preflight request as S3 does, which compares the origin, the method and every header with the rules of the
 * bucket. @throws S3Error 403 if a rule does not allow them
 */
function answerPreflight(request: IncomingMessage, response: ServerResponse, allowsOrigin: AllowsOrigin): void {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': wanted = '' } = request.headers;
  const headers = wanted.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim().toLowerCase()]));
  const isAllowed =
    origin !== undefined && allowsOrigin(origin) && isMethod(method) && headers.every((name) => allowHeaders.includes(name));
  if (!isAllowed) throw new S3Error(403, 'AccessForbidden', 'CORSResponse: This CORS request is not allowed.');
  response
    .writeHead(200, {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': methods.join(', '),
      ...(headers.length > 0 ? { 'access-control-allow-headers': headers.join(', ') } : {}),
      'access-control-max-age': String(maxAgeInSeconds),
      vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
      'content-length': 0,
    })
    .end();
}

function isMethod(method: string | undefined): boolean {
  return (methods as readonly (string | undefined)[]).includes(method);
}
