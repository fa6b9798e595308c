import { createHash } from 'node:crypto';
import { GetObjectCommand, NoSuchKey, PutObjectCommand } from '@aws-sdk/client-s3';
import { isEqual } from 'computation-management-formats/bytes';
import type { ReadTile, TileToWrite } from 'computation-management-transparency-log';
import { type ContentStore, createStorageClient, untilAnswer } from '../rows/content-store.ts';
import { sharedClient } from '../runtime/clients.ts';
import type { DeadlineSource } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import { log } from '../runtime/log.ts';

/** The bucket of the stage's log. Its objects are the tiles and the checkpoint, under their paths in the log (C2SP tlog-tiles). */
export type LogStore = ContentStore;

/** Opens the bucket of the stage's log that the environment variables of the process name. */
export function openLogStore(deadline: DeadlineSource): LogStore {
  return { bucket: environment().LOG_BUCKET_NAME, client: sharedClient(createStorageClient), deadline };
}

interface StoredObject {
  bytes: Uint8Array;
  etag: string;
}

/** Reads an object of the log. Returns undefined if the object is missing. */
export async function readObject(store: LogStore, path: string): Promise<StoredObject | undefined> {
  try {
    const command = new GetObjectCommand({ Bucket: store.bucket, Key: path });
    const { Body, ETag = '' } = await untilAnswer(store, (signal) => store.client.send(command, signal));
    return Body && { bytes: await Body.transformToByteArray(), etag: ETag };
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/** Returns a function that reads tiles from the bucket, each one once. */
export function tileReader(store: LogStore): ReadTile {
  const read = new Map<string, ReturnType<ReadTile>>();
  return (path) => {
    const reading = read.get(path) ?? readObject(store, path).then((found) => found?.bytes);
    read.set(path, reading);
    return reading;
  };
}

/**
 * Stores a tile that no published checkpoint covers as a whole. Safe to repeat. A tile that is there with other entries is one that
 * a service wrote before its table was restored, and never published. It is replaced.
 */
export async function storeTile(store: LogStore, { path, bytes }: TileToWrite): Promise<void> {
  if (await put(store, path, bytes, { IfNoneMatch: '*' })) return;
  const found = await readObject(store, path);
  if (found && isEqual(found.bytes, bytes)) return;
  log('WARN', 'An unpublished tile of the log is replaced.', { path });
  await put(store, path, bytes, {});
}

/** The path of the signed checkpoint of the log. */
export const checkpointPath = 'checkpoint';

/**
 * Publishes a signed checkpoint, if the published one is still the one that was read.
 * @param before what was read of the published checkpoint; undefined if there was none
 * @returns whether it was published
 */
export function publish(store: LogStore, note: string, before: Pick<StoredObject, 'etag'> | undefined): Promise<boolean> {
  return put(store, checkpointPath, Buffer.from(note), before ? { IfMatch: before.etag } : { IfNoneMatch: '*' });
}

/** Writes an object if its condition holds. @returns whether it holds */
async function put(
  store: LogStore,
  Key: string,
  Body: Uint8Array,
  condition: { IfNoneMatch?: '*'; IfMatch?: string },
): Promise<boolean> {
  try {
    const ChecksumSHA256 = createHash('sha256').update(Body).digest('base64'); // a bucket with object lock demands it
    const command = new PutObjectCommand({ Bucket: store.bucket, Key, Body, ChecksumSHA256, ...condition });
    await untilAnswer(store, (signal) => store.client.send(command, signal));
    return true;
  } catch (error) {
    if (error instanceof Error && conflicts.has(error.name)) return false;
    throw error;
  }
}

/** The errors of S3 for a write whose condition does not hold, or that another write came before. */
const conflicts = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);
