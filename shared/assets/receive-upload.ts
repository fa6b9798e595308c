import { createHash } from 'node:crypto';
import { getItem, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../table/transaction.ts';
import { deleteContent, getContent, ownerOfContent, type ContentStore } from './content-store.ts';
import { findAsset, assetKey } from './read-asset.ts';

/**
 * Content has arrived by a presigned upload: it is hashed by streaming, and its asset becomes `ready`. Content that no asset
 * awaits any more is deleted. Safe to repeat.
 */
export async function receiveUpload(table: Table, store: ContentStore, key: string, now: string): Promise<void> {
  const owner = ownerOfContent(key);
  if (!owner) return;
  const rowKey = assetKey(owner.domain, owner.assetId);
  const asset = findAsset(await getItem(table, rowKey), owner.assetId);
  if (asset?.content_key === key) return;
  if (asset?.upload_key !== key) {
    await deleteContent(store, key);
    return;
  }
  const content = await hashContent(store, key);
  if (!content) return;
  await withFreshReads(table, async (table) => {
    const awaiting = findAsset(await getItem(table, rowKey), owner.assetId);
    if (awaiting?.upload_key !== key) return;
    await transact(table, [
      {
        update: {
          Key: rowKey,
          UpdateExpression:
            'SET #state = :ready, #size = :size, checksum = :checksum, content_key = :key, content_checksum = :stored, upload_key = :none, updated_at = :now, version = version + :one',
          ConditionExpression: 'id = :id AND version = :read',
          ExpressionAttributeNames: { '#state': 'state', '#size': 'size' },
          ExpressionAttributeValues: {
            ...{
              ':ready': 'ready',
              ':size': content.size,
              ':checksum': awaiting.checksum ?? content.checksum,
              ':key': key,
              ':stored': content.checksum,
            },
            ...{ ':none': null, ':now': now, ':one': 1, ':id': awaiting.id, ':read': awaiting.version },
          },
        },
        otherwise: new StaleReadError(),
      },
    ]);
  });
}

async function hashContent(store: ContentStore, key: string): Promise<{ checksum: string; size: number } | undefined> {
  const response = await getContent(store, key);
  if (!response) return undefined;
  const hash = createHash('sha3-256');
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { checksum: hash.digest('hex'), size };
}
