import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { NodeJsClient } from '@smithy/types';
import { clientLimits, clientOptions, sharedClient } from '../runtime/clients.ts';
import { Deadline, type DeadlineSource } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import type { Asset } from './asset.ts';

/** The bucket with the content of the assets. Every object has a unique key and is written once. */
export interface ContentStore {
  bucket: string;
  client: NodeJsClient<S3Client>;
  /** Default: a new deadline of 5 seconds for each request. It covers the time until the first byte of the answer. */
  deadline?: DeadlineSource;
}

/** Storage that stops sending a body is given up like storage that sends no answer. Bodies are sent and returned as they are. */
const createClient = () =>
  new S3Client({
    ...clientOptions(),
    requestHandler: { ...clientLimits, socketTimeout: clientLimits.requestTimeout },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });

/** Opens the stage's bucket. The client is created at the first use. */
export function openContentStore(deadline: DeadlineSource): ContentStore {
  return { bucket: environment().BUCKET_NAME, client: sharedClient(createClient), deadline };
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

/** Writes an object. Its key is unique to the caller, so repeating the write changes nothing. */
export async function putContent(store: ContentStore, key: string, content: Buffer): Promise<void> {
  await untilAnswer(store, (signal) => store.client.send(new PutObjectCommand({ ...place(store, key), Body: content }), signal));
}

/**
 * Returns the content as a stream, or undefined if it is missing. Read it without pauses: a connection on which nothing arrives for
 * two seconds is closed, and reading throws.
 */
export async function getContent(store: ContentStore, key: string) {
  try {
    const { Body } = await untilAnswer(store, (signal) => store.client.send(new GetObjectCommand(place(store, key)), signal));
    return Body;
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/** Deletes an object. A missing object is not an error. */
export async function deleteContent(store: ContentStore, key: string): Promise<void> {
  await untilAnswer(store, (signal) => store.client.send(new DeleteObjectCommand(place(store, key)), signal));
}

function place({ bucket }: ContentStore, Key: string) {
  return { Bucket: bucket, Key };
}

/** Sends a request that is aborted at the deadline, but not while its body is read afterwards. */
async function untilAnswer<Output>(
  { deadline }: ContentStore,
  send: (options: { abortSignal: AbortSignal }) => Promise<Output>,
): Promise<Output> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), (deadline?.() ?? new Deadline()).remaining);
  try {
    return await send({ abortSignal: late.signal });
  } finally {
    clearTimeout(timer);
  }
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
  const url = await getSignedUrl(store.client, new PutObjectCommand({ ...place(store, key), IfNoneMatch: '*' }), {
    expiresIn: linkLifetimeInSeconds,
    unhoistableHeaders: new Set(Object.keys(headers)),
  });
  return { method: 'PUT', url, headers, expires_at: expiry(now) };
}

/** Presigns a download with the asset's file name. It is valid for one hour. @param now RFC 3339, UTC, milliseconds */
export async function presignDownload(
  store: ContentStore,
  key: string,
  fileName: string,
  now: string,
): Promise<NonNullable<Asset['download']>> {
  const command = new GetObjectCommand({
    ...place(store, key),
    ResponseContentType: 'application/octet-stream',
    ResponseContentDisposition: `attachment; filename*=UTF-8''${extendedValue(fileName)}`,
  });
  return { url: await getSignedUrl(store.client, command, { expiresIn: linkLifetimeInSeconds }), expires_at: expiry(now) };
}

/** Encodes a file name for RFC 8187, which allows fewer characters than a URL. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
