import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { assetKeys } from '../table/keys.ts';
import type { Table, Item } from '../table/table.ts';
import { updateExisting } from '../table/writes.ts';
import { transact, StaleReadError, withFreshReads } from '../table/transaction.ts';
import { type ContentRead, assertAssetExists } from '../rows/asset.ts';
import { parseStored } from '../table/stored.ts';

/**
 * The item that records who has read the content of an asset. It is separate from the asset, so that reads neither conflict with
 * changes of the asset nor change its version. The unique name of a read begins with its time in milliseconds since the epoch.
 */
const storedReads = v.object({ latest_reads: v.record(v.string(), v.string()) });

const readsShown = 100;

/**
 * The number of recorded reads of an asset's content above which the oldest are removed, 21 at a time, so that few reads cost a
 * second write.
 */
const readsStored = readsShown + 20;

/** Returns the names of recorded reads of an asset's content, oldest first. A name begins with the time of the read. */
function namesOf(reads: Record<string, string>): string[] {
  return Object.keys(reads).sort();
}

/** Lists the last 100 reads of the content of an asset, newest first, from the item that records them. */
export function parseContentReads(item: Item | undefined): ContentRead[] {
  if (!item) return [];
  const { latest_reads: reads } = parseStored(storedReads, item, "record of a content's reads");
  const latest = namesOf(reads).reverse().slice(0, readsShown);
  return latest.map((name) => ({ user: reads[name] ?? '', read_at: new Date(Number(name.split('-')[0])).toISOString() }));
}

interface Read {
  domain: string;
  assetId: string;
  user: string;
  now: string;
}

/**
 * Records that a user reads the content of an asset. Call it before the content is handed out. One write. The first read of an
 * asset takes an additional transaction, so that a read of an asset that is being deleted leaves nothing behind.
 * @throws ServiceError `not_found` if the asset has been deleted
 */
export async function recordContentRead(table: Table, { domain, assetId, user, now }: Read): Promise<void> {
  const key = assetKeys.contentReads(assetId);
  const name = `${Date.parse(now)}-${randomBytes(4).toString('base64url')}`;
  await withFreshReads(table, async (table) => {
    const item = await updateExisting(table, key, {
      UpdateExpression: 'SET latest_reads.#read = :user',
      ExpressionAttributeNames: { '#read': name },
      ExpressionAttributeValues: { ':user': user },
    });
    if (item) return await removeOldest(table, assetId, item);
    const put = { Item: { ...key, latest_reads: { [name]: user } }, ConditionExpression: 'attribute_not_exists(pk)' };
    await transact(table, [assertAssetExists(domain, assetId), { put, otherwise: StaleReadError }]);
  });
}

async function removeOldest(table: Table, assetId: string, item: Item): Promise<void> {
  const names = namesOf(parseStored(storedReads, item, "record of a content's reads").latest_reads);
  if (names.length <= readsStored) return;
  const oldest = names.slice(0, names.length - readsShown);
  await updateExisting(table, assetKeys.contentReads(assetId), {
    UpdateExpression: `REMOVE ${oldest.map((_, index) => `latest_reads.#read${index}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(oldest.map((name, index) => [`#read${index}`, name])),
  });
}
