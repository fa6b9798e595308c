import { CreateBucketCommand, HeadObjectCommand, NotFound, S3Client } from '@aws-sdk/client-s3';
import type { S3Event } from 'aws-lambda';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { AllowsOrigin } from '../http-api/cors.ts';
import { listen } from '../listen.ts';
import { localCredentials } from '../local-credentials.ts';
import { checkSignature } from './check-signature.ts';
import { checkedBody } from './checked-body.ts';
import { answerPreflight, setCorsHeaders } from './cors.ts';
import { startS3Engine } from './engine.ts';
import { type CreatedObject, objectCreatedEvent } from './object-created-event.ts';
import { partsOfKey } from './parts-of-key.ts';
import { type ObjectPlace, receiveObject } from './put-object.ts';
import { S3Error } from './s3-error.ts';

export interface LocalS3 {
  endpoint: string;
  stop: () => Promise<void>;
}

interface Front {
  engine: string;
  client: S3Client;
  /** Keys with a conditional write in progress. */
  beingCreated: Set<string>;
  allowsOrigin: AllowsOrigin;
  notifiedPrefix: string;
  onObjectCreated: (event: S3Event) => void;
}

/**
 * Starts object storage with one bucket, in memory or on files under `dataDirectory`. A front adds what the embedded engine
 * lacks: private objects with presigned requests, CORS, `If-None-Match: *` on writes, uploads over 11 MiB and of every content
 * type, the response headers that a presigned download requests, and notifications of created objects.
 */
export async function startS3(options: {
  bucket: string;
  dataDirectory?: string;
  /** Objects with this prefix cause notifications. */
  notifiedPrefix: string;
  onObjectCreated: (event: S3Event) => void;
  /** The origins of web pages that may use presigned requests. Default: none. */
  allowsOrigin?: AllowsOrigin;
}): Promise<LocalS3> {
  const { bucket, dataDirectory, notifiedPrefix, onObjectCreated, allowsOrigin = () => false } = options;
  const engine = await startS3Engine(dataDirectory);
  const { endpoint } = engine;
  const client = new S3Client({
    endpoint,
    region: 'local',
    credentials: localCredentials,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const stopEngine = async () => {
    client.destroy();
    await engine.stop();
  };
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  } catch (error) {
    await stopEngine();
    throw error;
  }
  const front: Front = { engine: endpoint, client, beingCreated: new Set(), allowsOrigin, notifiedPrefix, onObjectCreated };
  const server = await listen(
    createServer((request, response) => void answer(request, response, front)),
    0,
  );
  return {
    endpoint: server.endpoint,
    stop: async () => {
      await server.stop();
      await stopEngine();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, front: Front): Promise<void> {
  try {
    setCorsHeaders(request, response, front.allowsOrigin);
    if (request.method === 'OPTIONS') {
      answerPreflight(request, response, front.allowsOrigin);
      return;
    }
    const [rawPath = '', rawQueryString = ''] = (request.url ?? '').split('?');
    const signed = checkSignature({ method: request.method ?? '', rawPath, rawQueryString, headers: request.headers });
    const body = checkedBody(request, signed);
    const place = placeOf(rawPath);
    const created = place && creationBy(request, rawQueryString);
    if (created) await create({ request, body, response, front, place, eventName: created });
    else await forward(request, response, front, body);
  } catch (error) {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const refusal = error instanceof S3Error ? error : new S3Error(500, 'InternalError', String(error));
    response
      .writeHead(refusal.status, { 'content-type': 'application/xml' })
      .end(request.method === 'HEAD' ? '' : refusal.toXml());
  }
}

function placeOf(rawPath: string): ObjectPlace | undefined {
  const [, bucket = '', ...rest] = rawPath.split('/').map(decodeURIComponent);
  const key = rest.join('/');
  return key === '' ? undefined : { bucket, key: partsOfKey(key).join('/') };
}

/** Returns how a request creates an object, or undefined if it does not. */
function creationBy(request: IncomingMessage, rawQueryString: string): CreatedObject['eventName'] | undefined {
  const query = new URLSearchParams(rawQueryString);
  if (request.method === 'POST' && query.has('uploadId')) return 'ObjectCreated:CompleteMultipartUpload';
  if (request.method !== 'PUT' || query.has('uploadId')) return undefined;
  return request.headers['x-amz-copy-source'] === undefined ? 'ObjectCreated:Put' : 'ObjectCreated:Copy';
}

async function create(creation: {
  request: IncomingMessage;
  body: AsyncIterable<Buffer>;
  response: ServerResponse;
  front: Front;
  place: ObjectPlace;
  eventName: CreatedObject['eventName'];
}): Promise<void> {
  const { request, body, response, front, place, eventName } = creation;
  const release = await reserve(request, front, place);
  try {
    if (eventName !== 'ObjectCreated:Put' || request.headers['content-encoding']?.includes('aws-chunked')) {
      await forward(request, response, front, body);
    } else {
      const received = await receiveObject(front.client, place, body);
      if ('whole' in received) await forward(request, response, front, [received.whole], plainType);
      else response.writeHead(200, { etag: received.eTag }).end();
    }
  } finally {
    release();
  }
  if (response.statusCode !== 200 || !place.key.startsWith(front.notifiedPrefix)) return;
  const { ContentLength = 0, ETag = '' } = await head(front, place);
  front.onObjectCreated(objectCreatedEvent({ eventName, ...place, sizeInBytes: ContentLength, eTag: ETag }));
}

/** The engine would read a form or other types of its own services as a request to them. Nothing reads the stored type. */
const plainType = { 'content-type': 'binary/octet-stream' };

/** Reserves a key for a write with `If-None-Match: *`. @throws S3Error 412 if the object exists, 409 if it is being written */
async function reserve(request: IncomingMessage, front: Front, place: ObjectPlace): Promise<() => void> {
  if (request.headers['if-none-match'] !== '*') return () => undefined;
  const name = `${place.bucket}/${place.key}`;
  if (front.beingCreated.has(name)) {
    throw new S3Error(409, 'ConditionalRequestConflict', 'A conflicting conditional operation is currently in progress.');
  }
  front.beingCreated.add(name);
  const release = () => front.beingCreated.delete(name);
  try {
    await head(front, place);
  } catch (error) {
    if (error instanceof NotFound) return release;
    release();
    throw error;
  }
  release();
  throw new S3Error(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');
}

async function head(front: Front, { bucket, key }: ObjectPlace) {
  return await front.client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  front: Front,
  body: AsyncIterable<Buffer> | Iterable<Buffer>,
  ownHeaders: Record<string, string> = {},
): Promise<void> {
  const {
    'if-none-match': condition,
    'transfer-encoding': _,
    'content-length': length = '0',
    expect: __,
    ...headers
  } = request.headers;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const size = Array.isArray(body) ? String((body[0] as Buffer).length) : length;
  const sized = size === '0' ? {} : { 'content-length': size }; // the engine stores no object with `content-length: 0`
  const upstream = httpRequest(front.engine + (request.url ?? ''), {
    method: request.method,
    headers: {
      ...headers,
      ...ownHeaders,
      ...sized,
      ...(isRead && condition !== undefined ? { 'if-none-match': condition } : {}),
    },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => upstream.once('response', resolve).once('error', reject));
  await Promise.all([pipeline(body, upstream), answered]);
  const answer = await answered;
  response.writeHead(answer.statusCode ?? 502, {
    ...answer.headers,
    ...(answer.statusCode === 200 ? requestedHeaders(request) : {}),
  });
  await pipeline(answer, response);
}

/** Returns the response headers that the query of a GET requests, such as `response-content-type`. */
function requestedHeaders(request: IncomingMessage): Record<string, string> {
  if (request.method !== 'GET') return {};
  const query = new URLSearchParams((request.url ?? '').split('?')[1]);
  return Object.fromEntries(
    [...query].filter(([name]) => name.startsWith('response-')).map(([name, value]) => [name.slice('response-'.length), value]),
  );
}
