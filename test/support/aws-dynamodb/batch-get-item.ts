import { isThrottling } from './batch-write-item.ts';
import type { Front } from './front.ts';
import { getItem } from './get-item.ts';
import { itemSize } from './item-size.ts';
import { checkBatchGet, checkKeysDiffer, maxBatchBytes } from './quotas.ts';
import { shuffled } from './seeded-random.ts';
import { asksForCapacity } from './single-writes.ts';
import type { BatchGetRequest, Json, KeysAndAttributes, WireItem } from './wire.ts';
import { WireError } from './wire-error.ts';

/**
 * Reads each item at a different time, in random order. Returns keys that are throttled or exceed 16 MB in UnprocessedKeys.
 * @throws WireError if the batch breaks a quota, or if every key in it was throttled.
 */
export async function batchGetItem(front: Front, request: BatchGetRequest): Promise<Json> {
  checkBatchGet(request);
  const reads = Object.entries(request.RequestItems).flatMap(([TableName, { Keys, ...options }]) =>
    Keys.map((Key) => ({ ...options, TableName, Key, ReturnConsumedCapacity: 'TOTAL' })),
  );
  const refs = await Promise.all(reads.map((read) => front.keySchemas.refOf(read)));
  checkKeysDiffer(refs.map(({ id }) => id));

  const tableNames = Object.keys(request.RequestItems);
  const responses: Record<string, WireItem[]> = Object.fromEntries(tableNames.map((name) => [name, []]));
  const unprocessed: Record<string, KeysAndAttributes> = {};
  const consumed = new Map<string, number>();
  const refusals: WireError[] = [];
  let bytes = 0;
  const leaveOut = (TableName: string, Key: WireItem) => {
    unprocessed[TableName] ??= { ...request.RequestItems[TableName], Keys: [] };
    unprocessed[TableName].Keys.push(Key);
  };
  for (const read of shuffled(reads, front.random)) {
    if (bytes > maxBatchBytes) {
      leaveOut(read.TableName, read.Key);
      continue;
    }
    try {
      if (front.durations.betweenReads > 0) await front.clock.wait(front.random() * front.durations.betweenReads);
      const { Item: item, ConsumedCapacity: capacity } = await getItem(front, read);
      consumed.set(read.TableName, (consumed.get(read.TableName) ?? 0) + (capacity?.CapacityUnits ?? 0));
      bytes += itemSize(item);
      if (item && bytes > maxBatchBytes) leaveOut(read.TableName, read.Key);
      else if (item) responses[read.TableName]?.push(item);
    } catch (error) {
      if (!(error instanceof WireError) || !isThrottling(error)) throw error;
      refusals.push(error);
      leaveOut(read.TableName, read.Key);
    }
  }
  if (refusals.length === reads.length && refusals[0]) throw refusals[0];
  return {
    Responses: responses,
    UnprocessedKeys: unprocessed,
    ...(asksForCapacity(request) && {
      ConsumedCapacity: [...consumed].map(([TableName, CapacityUnits]) => ({ TableName, CapacityUnits })),
    }),
  };
}
