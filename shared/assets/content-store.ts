import { randomUUID } from 'node:crypto';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { S3RequestPresigner } from '@aws-sdk/s3-request-presigner';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { sharedClient } from '../clients.ts';
import { Deadline, type DeadlineSource } from '../deadline.ts';
import { environment } from '../environment.ts';
import type { Asset } from './asset-schema.ts';
import { requestStorage, type Method } from './storage-request.ts';

/**
 * The bucket with the content of the assets. Every object has a unique key and is written once. The service presigns its own
 * requests too and sends them with `fetch`, because loading the S3 client would take longer (docs/adr/0005-bundles.md).
 */
export interface ContentStore {
  /** The address of the bucket, without a trailing slash. */
  url: string;
  presigner: S3RequestPresigner;
  /** Limits the time until the response starts, and the time between two parts of its body. Default 3,000. */
  timeLimitInMilliseconds?: number;
  /** Default: a new deadline of 5 seconds for each request. It covers the time until the first byte of the response. */
  deadline?: DeadlineSource;
}

const createPresigner = () =>
  new S3RequestPresigner({ region: environment().AWS_REGION, credentials: fromEnv(), sha256: Sha256 });

/** Opens the stage's bucket. The presigner is created at the first use. */
export function openContentStore(deadline: DeadlineSource): ContentStore {
  return { url: environment().BUCKET_URL, presigner: sharedClient(createPresigner), deadline };
}

const inlinePrefix = 'content/inline/';

/** Users upload objects with this prefix. Their arrival triggers an event. */
export const uploadPrefix = 'content/upload/';

/** Creates a unique key for content that was sent inline. */
export function inlineKey(domain: string, assetId: string): string {
  return `${inlinePrefix}${domain}/${assetId}/${randomUUID()}`;
}

/** Creates a unique key for content that a user uploads. */
export function uploadKey(domain: string, assetId: string): string {
  return `${uploadPrefix}${domain}/${assetId}/${randomUUID()}`;
}

/** Returns the prefixes of the keys of a domain's content. */
export function contentPrefixesOf(domain: string): string[] {
  return [inlinePrefix, uploadPrefix].map((prefix) => `${prefix}${domain}/`);
}

/** Returns the asset that a content key belongs to, or undefined if the key has another form. */
export function ownerOfContent(key: string): { domain: string; assetId: string } | undefined {
  const [root, way, domain, assetId, name, ...more] = key.split('/');
  return root === 'content' && way && domain && assetId && name && more.length === 0 ? { domain, assetId } : undefined;
}

/** @throws StorageError, ServiceError `unavailable` */
export async function putContent(store: ContentStore, key: string, content: Buffer): Promise<void> {
  await request(store, 'PUT', key, { body: new Uint8Array(content), headers: { 'if-none-match': '*' } });
}

/** Returns a response with the content as its body, or undefined. @throws StorageError, ServiceError `unavailable` */
export async function getContent(store: ContentStore, key: string): Promise<Response | undefined> {
  const response = await request(store, 'GET', key);
  return response.status === 404 ? undefined : response;
}

/** Deletes an object. A missing object is not an error. @throws StorageError, ServiceError `unavailable` */
export async function deleteContent(store: ContentStore, key: string): Promise<void> {
  await request(store, 'DELETE', key);
}

export const linkLifetimeInSeconds = 3600;

function expiry(now: string): string {
  return new Date(Date.parse(now) + linkLifetimeInSeconds * 1000).toISOString();
}

/**
 * Presigns an upload. It is valid for one hour and for one upload: storage refuses a second upload of the same key.
 * @param now RFC 3339, UTC, milliseconds
 */
export async function presignUpload(store: ContentStore, key: string, now: string): Promise<NonNullable<Asset['upload']>> {
  const headers = { 'if-none-match': '*' };
  return { method: 'PUT', url: await presign(store, 'PUT', key, { headers }), headers, expires_at: expiry(now) };
}

/** Presigns a download with the asset's file name. It is valid for one hour. @param now RFC 3339, UTC, milliseconds */
export async function presignDownload(
  store: ContentStore,
  key: string,
  fileName: string,
  now: string,
): Promise<NonNullable<Asset['download']>> {
  const query = {
    'response-content-type': 'application/octet-stream',
    'response-content-disposition': `attachment; filename*=UTF-8''${extendedValue(fileName)}`,
  };
  return { url: await presign(store, 'GET', key, { query }), expires_at: expiry(now) };
}

/** Encodes a file name for RFC 8187, which allows fewer characters than a URL. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

async function presign(
  store: ContentStore,
  method: Method,
  key: string,
  options: { headers?: Record<string, string>; query?: Record<string, string> } = {},
): Promise<string> {
  const { protocol, hostname, port, pathname } = new URL(`${store.url}/${key}`);
  const place = { protocol, hostname, path: pathname, ...(port ? { port: Number(port) } : {}) };
  const headers = { ...options.headers };
  const toSign = new HttpRequest({ method, ...place, headers, ...(options.query ? { query: options.query } : {}) });
  const unhoistableHeaders = new Set(Object.keys(headers));
  const signed = await store.presigner.presign(toSign, { expiresIn: linkLifetimeInSeconds, unhoistableHeaders });
  const query = Object.entries(signed.query ?? {}).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  );
  return `${store.url}/${key}?${query.join('&')}`;
}

async function request(
  store: ContentStore,
  method: Method,
  key: string,
  options: { headers?: Record<string, string>; body?: Uint8Array<ArrayBuffer> } = {},
): Promise<Response> {
  const url = await presign(store, method, key, options);
  const deadline = store.deadline?.() ?? new Deadline();
  return await requestStorage(url, { method, ...options }, deadline, store.timeLimitInMilliseconds);
}
