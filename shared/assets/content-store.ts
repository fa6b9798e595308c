import { randomUUID } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { environment } from '../environment.ts';
import type { Asset } from './asset.ts';

/** The bucket that holds the assets' content. Objects are written once, under names that no other write gets. */
export interface ContentStore {
  bucket: string;
  client: S3Client;
}

let known: ContentStore | undefined;

export function openContentStore(): ContentStore {
  known ??= {
    bucket: environment().BUCKET_NAME,
    client: new S3Client({
      forcePathStyle: environment().AWS_ENDPOINT_URL_S3 !== undefined,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
  };
  return known;
}

/** Prefix of all content of an asset. */
export function contentPrefix(domain: string, assetId: string): string {
  return `content/${domain}/${assetId}/`;
}

/** A name that was never used before. */
export function newContentKey(domain: string, assetId: string): string {
  return contentPrefix(domain, assetId) + randomUUID();
}

/** The asset that a content key belongs to; undefined for a key of another form. */
export function ownerOfContent(key: string): { domain: string; assetId: string } | undefined {
  const [root, domain, assetId, name, ...more] = key.split('/');
  return root === 'content' && domain && assetId && name && more.length === 0 ? { domain, assetId } : undefined;
}

export async function putContent(store: ContentStore, key: string, content: Buffer): Promise<void> {
  await store.client.send(new PutObjectCommand({ Bucket: store.bucket, Key: key, Body: content, IfNoneMatch: '*' }));
}

/** The content of an object, whole; meant for content up to the inline limit. */
export async function getContent(store: ContentStore, key: string): Promise<Uint8Array> {
  const { Body } = await store.client.send(new GetObjectCommand({ Bucket: store.bucket, Key: key }));
  if (!Body) throw new Error('An object of the content bucket has no body.');
  return await Body.transformToByteArray();
}

const linkLifetimeInSeconds = 3600;

function expiry(now: string): string {
  return new Date(Date.parse(now) + linkLifetimeInSeconds * 1000).toISOString();
}

/** A presigned upload, good for an hour and for one upload: storage refuses a second one under the same name. */
export async function presignUpload(store: ContentStore, key: string, now: string): Promise<NonNullable<Asset['upload']>> {
  const command = new PutObjectCommand({ Bucket: store.bucket, Key: key, IfNoneMatch: '*' });
  const url = await getSignedUrl(store.client, command, {
    expiresIn: linkLifetimeInSeconds,
    unhoistableHeaders: new Set(['if-none-match']),
  });
  return { method: 'PUT', url, headers: { 'if-none-match': '*' }, expires_at: expiry(now) };
}

/** A presigned download under the asset's own name, good for an hour. */
export async function presignDownload(
  store: ContentStore,
  key: string,
  fileName: string,
  now: string,
): Promise<NonNullable<Asset['download']>> {
  const command = new GetObjectCommand({
    Bucket: store.bucket,
    Key: key,
    ResponseContentType: 'application/octet-stream',
    ResponseContentDisposition: `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`,
  });
  return { url: await getSignedUrl(store.client, command, { expiresIn: linkLifetimeInSeconds }), expires_at: expiry(now) };
}
