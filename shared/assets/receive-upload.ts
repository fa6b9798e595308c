import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { getItem, StaleReadError, transact, withFreshReads, type Table } from '../table/table.ts';
import { findAsset, assetKey } from './read-asset.ts';
import { ownerOfContent, type ContentStore } from './content-store.ts';

/**
 * Content has arrived by a presigned upload: it is hashed by streaming, and its asset becomes `ready`. Content that no asset
 * awaits is left to the collector. Safe to repeat.
 */
export async function receiveUpload(table: Table, store: ContentStore, key: string, now: string): Promise<void> {
  const owner = ownerOfContent(key);
  if (!owner) return;
  const rowKey = assetKey(owner.domain, owner.assetId);
  const awaited = findAsset(await getItem(table, rowKey), owner.assetId);
  if (awaited?.upload_key !== key) return;

  const { checksum, size } = await hashContent(store, key);
  await withFreshReads(async () => {
    const asset = findAsset(await getItem(table, rowKey), owner.assetId);
    if (asset?.upload_key !== key) return;
    await transact(table, [
      {
        update: {
          Key: rowKey,
          UpdateExpression:
            'SET #state = :ready, size = :size, checksum = :checksum, content_key = :key, upload_key = :none, updated_at = :now, version = version + :one',
          ConditionExpression: 'id = :id AND version = :read',
          ExpressionAttributeNames: { '#state': 'state' },
          ExpressionAttributeValues: {
            ...{ ':ready': 'ready', ':size': size, ':checksum': asset.checksum ?? checksum, ':key': key, ':none': null },
            ...{ ':now': now, ':one': 1, ':id': asset.id, ':read': asset.version },
          },
        },
        otherwise: new StaleReadError(),
      },
    ]);
  });
}

async function hashContent(store: ContentStore, key: string): Promise<{ checksum: string; size: number }> {
  const { Body } = await store.client.send(new GetObjectCommand({ Bucket: store.bucket, Key: key }));
  if (!(Body instanceof Readable)) throw new Error('An object of the content bucket has no readable body.');
  const hash = createHash('sha3-256');
  let size = 0;
  await pipeline(Body, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
    }
  });
  return { checksum: hash.digest('hex'), size };
}
