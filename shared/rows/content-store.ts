import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { NodeJsClient } from '@smithy/types';
import { clientLimits, clientOptions, sharedClient } from '../runtime/clients.ts';
import { Deadline, type DeadlineSource } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import type { Asset } from './asset.ts';

/** The S3 bucket with the content of assets and the attestation tokens. Every object has a unique key and is written once. */
export interface ContentStore {
  bucket: string;
  client: NodeJsClient<S3Client>;
  /**
   * Returns the deadline of a request to storage, which counts until the first byte of the answer. Default: 5 seconds for each
   * request.
   */
  deadline?: DeadlineSource;
}

/** Creates the client of S3. It sends and returns bodies as they are, without computing checksums. */
export const createStorageClient = () =>
  new S3Client({
    ...clientOptions(),
    requestHandler: { ...clientLimits, socketTimeout: clientLimits.requestTimeout },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });

/** Opens the S3 bucket with the content of assets that the environment variables of the process name. */
export function openContentStore(deadline: DeadlineSource): ContentStore {
  return { bucket: environment().BUCKET_NAME, client: sharedClient(createStorageClient), deadline };
}

/** The prefix in storage of content that came inline in a request. */
export const inlinePrefix = 'content/inline/';

/** The prefix in storage of content that users upload with a presigned request. Its arrival triggers an event. */
export const uploadPrefix = 'content/upload/';

/** Returns a new unique key for content that came inline in a request. */
export function inlineKey(domain: string, assetId: string): string {
  return `${inlinePrefix}${domain}/${assetId}/${randomUUID()}`;
}

/** Returns a new unique key for content that a user will upload. */
export function uploadKey(domain: string, assetId: string): string {
  return `${uploadPrefix}${domain}/${assetId}/${randomUUID()}`;
}

/** The prefix in storage of attestation tokens. Their arrival triggers an event. */
export const tokenPrefix = 'content/attestation/';

/** Returns the prefixes of all objects of a domain. */
export function contentPrefixesOf(domain: string): string[] {
  return [inlinePrefix, uploadPrefix, tokenPrefix].map((prefix) => `${prefix}${domain}/`);
}

/** Returns the domain and the asset to which the key of an object belongs. Returns undefined if the key has another form. */
export function ownerOfContent(key: string): { domain: string; assetId: string } | undefined {
  const [root, way, domain, assetId, name, ...more] = key.split('/');
  return root === 'content' && way && domain && assetId && name && more.length === 0 ? { domain, assetId } : undefined;
}

/** Stores content of an asset or an attestation token as an object in storage. Safe to repeat, because the key is unique. */
export async function putContent(store: ContentStore, key: string, content: Buffer): Promise<void> {
  await untilAnswer(store, (signal) => store.client.send(new PutObjectCommand({ ...place(store, key), Body: content }), signal));
}

/**
 * Returns the stream of an object's content, or undefined if the object is missing. Read the stream without pauses: a silent
 * connection is closed.
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

/** Deletes an object from storage. A missing object is no error. */
export async function deleteContent(store: ContentStore, key: string): Promise<void> {
  await untilAnswer(store, (signal) => store.client.send(new DeleteObjectCommand(place(store, key)), signal));
}

function place({ bucket }: ContentStore, Key: string) {
  return { Bucket: bucket, Key };
}

/**
 * Sends a request to storage and aborts it if no answer comes before the deadline. Reading the body afterwards is not aborted.
 */
export async function untilAnswer<Output>(
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

/** The time for which a presigned request for uploading or downloading content is valid, in seconds: one hour. */
export const linkLifetimeInSeconds = 3600;

function expiry(now: string): string {
  return new Date(Date.parse(now) + linkLifetimeInSeconds * 1000).toISOString();
}

/** Signs a request with which a user uploads content within an hour, once: storage refuses a second upload with the same key. */
export async function presignUpload(store: ContentStore, key: string, now: string): Promise<NonNullable<Asset['upload']>> {
  const headers = { 'if-none-match': '*' };
  const url = await getSignedUrl(store.client, new PutObjectCommand({ ...place(store, key), IfNoneMatch: '*' }), {
    expiresIn: linkLifetimeInSeconds,
    unhoistableHeaders: new Set(Object.keys(headers)),
  });
  return { method: 'PUT', url, headers, expires_at: expiry(now) };
}

/** Signs a request with which a user downloads content within an hour, under the file name of the asset. */
export async function presignDownload(store: ContentStore, key: string, fileName: string, now: string) {
  const command = new GetObjectCommand({
    ...place(store, key),
    ResponseContentType: 'application/octet-stream',
    ResponseContentEncoding: 'identity', // else clients decode content that was uploaded with `content-encoding: gzip`
    ResponseContentDisposition: `attachment; filename*=UTF-8''${extendedValue(fileName)}`,
  });
  return { url: await getSignedUrl(store.client, command, { expiresIn: linkLifetimeInSeconds }), expires_at: expiry(now) };
}

/** Encodes a file name for the header Content-Disposition. RFC 8187 allows fewer characters than a URL. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
