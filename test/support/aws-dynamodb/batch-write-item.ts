import type { Front } from './front.ts';
import { checkBatchWrite, checkKeysDiffer } from './quotas.ts';
import { shuffled } from './seeded-random.ts';
import { asksForCapacity, writeItem } from './single-writes.ts';
import type { BatchWriteRequest, Capacity, ItemRequest, Json, WriteRequest } from './wire.ts';
import { WireError } from './wire-error.ts';

/**
 * Writes each item separately, in random order, because BatchWriteItem is not a transaction. Returns writes that conflict with a
 * transaction or are throttled in UnprocessedItems.
 * @throws WireError if the batch breaks a quota, or if every write in it was throttled.
 */
export async function batchWriteItem(front: Front, request: BatchWriteRequest): Promise<Json> {
  checkBatchWrite(request);
  const writes = Object.entries(request.RequestItems).flatMap(([TableName, members]) =>
    members.map((write) => ({ write, request: { TableName, ...itemOrKeyOf(write) } })),
  );
  const refs = await Promise.all(writes.map((each) => front.keySchemas.refOf(each.request)));
  checkKeysDiffer(refs.map(({ id }) => id));

  const unprocessed: Record<string, WriteRequest[]> = {};
  const consumed = new Map<string, number>();
  const refusals: WireError[] = [];
  for (const { write, request: single } of shuffled(writes, front.random)) {
    try {
      const operation = 'PutRequest' in write ? 'PutItem' : 'DeleteItem';
      const answer = await writeItem(front, operation, { ...single, ReturnConsumedCapacity: 'TOTAL' });
      const { CapacityUnits: units } = answer['ConsumedCapacity'] as Capacity;
      consumed.set(single.TableName, (consumed.get(single.TableName) ?? 0) + units);
    } catch (error) {
      if (!(error instanceof WireError) || !isTransient(error)) throw error;
      refusals.push(error);
      (unprocessed[single.TableName] ??= []).push(write);
    }
  }
  if (refusals.length === writes.length && refusals[0] && refusals.every(isThrottling)) throw refusals[0];
  return {
    UnprocessedItems: unprocessed,
    ...(asksForCapacity(request) && {
      ConsumedCapacity: [...consumed].map(([TableName, CapacityUnits]) => ({ TableName, CapacityUnits })),
    }),
  };
}

function itemOrKeyOf(write: WriteRequest): Pick<ItemRequest, 'Item' | 'Key'> {
  return 'PutRequest' in write ? { Item: write.PutRequest.Item } : { Key: write.DeleteRequest.Key };
}

export const isThrottling = (error: WireError) => error.type === 'ThrottlingException';
const isTransient = (error: WireError) => isThrottling(error) || error.type === 'TransactionConflictException';
