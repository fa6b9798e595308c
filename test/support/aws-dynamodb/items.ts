import { shuffled } from '../seeded-random.ts';
import type { Front } from './front.ts';
import { checkBatchGet, checkBatchWrite, checkKeysDiffer, itemSize, maxBatchBytes, writeUnits } from './limits.ts';
import {
  type BatchGetRequest,
  type BatchWriteRequest,
  type Capacity,
  conflictError,
  type ItemRequest,
  type Json,
  type KeysAndAttributes,
  throttlingError,
  WireError,
  type WireItem,
  type WriteRequest,
} from './wire.ts';

const leastReadUnits = 0.5;

/**
 * Reads the current state of an item, even if a transaction holds it.
 * @throws WireError ThrottlingException if the partition key has used up its read units
 */
export async function getItem(
  front: Front,
  request: ItemRequest,
): Promise<{ Item?: WireItem; ConsumedCapacity?: Capacity | undefined }> {
  const { engine, figures, keySchemas, meter, reveals } = front;
  const { partitionKey } = await keySchemas.refOf(request);
  if (!meter.reserve('read', partitionKey, leastReadUnits)) throw throttlingError('read', request.TableName);
  let units = 0;
  try {
    await reveals.untilSettled();
    if (reveals.isPartlyVisible(partitionKey)) figures.readsOfPartlyVisible++;
    const { ConsumedCapacity: consumed, ...answer } = await engine.call('GetItem', withCapacity(request));
    units = consumed?.CapacityUnits ?? leastReadUnits;
    return asksForCapacity(request) ? { ...answer, ConsumedCapacity: consumed } : answer;
  } finally {
    meter.settle('read', partitionKey, leastReadUnits, units);
  }
}

export type SingleWrite = 'PutItem' | 'UpdateItem' | 'DeleteItem';

/**
 * Writes one item, which the engine does immediately.
 * @throws WireError TransactionConflictException while a transaction holds the item, ThrottlingException if the partition key
 * has used up its write units, and the errors of the engine
 */
export async function writeItem(front: Front, operation: SingleWrite, request: ItemRequest): Promise<Json> {
  const { engine, clock, durations, figures, keySchemas, locks, meter } = front;
  const ref = await keySchemas.refOf(request);
  if (locks.isHeld(ref.id)) {
    figures.conflicts++;
    figures.conflictingItems.push(`${operation} ${ref.id}`);
    throw conflictError();
  }
  if (!meter.reserve('write', ref.partitionKey, 1)) throw throttlingError('write', ref.tableName);

  const leave = locks.enter([ref.id], 'write');
  let units = 0;
  try {
    const { ConsumedCapacity: consumed, ...answer } = await engine.call(operation, withCapacity(request));
    units = consumed?.CapacityUnits ?? 1;
    if (durations.singleWrite > 0) await clock.wait(durations.singleWrite);
    return asksForCapacity(request) ? { ...answer, ConsumedCapacity: consumed } : answer;
  } catch (error) {
    // A failed condition costs the units of the item's size.
    if (error instanceof WireError && error.type === 'ConditionalCheckFailedException') {
      const { Item: item } = await engine.call('GetItem', { TableName: ref.tableName, Key: ref.key, ConsistentRead: true });
      units = writeUnits(itemSize(item));
    }
    throw error;
  } finally {
    leave();
    meter.settle('write', ref.partitionKey, 1, units);
  }
}

/** Returns the request with ReturnConsumedCapacity. */
export function withCapacity<Request extends { ReturnConsumedCapacity?: string }>(request: Request): Request {
  return { ...request, ReturnConsumedCapacity: asksForCapacity(request) ? request.ReturnConsumedCapacity : 'TOTAL' };
}

export function asksForCapacity({ ReturnConsumedCapacity: asked }: { ReturnConsumedCapacity?: string }): boolean {
  return asked !== undefined && asked !== 'NONE';
}

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

const isThrottling = (error: WireError) => error.type === 'ThrottlingException';
const isTransient = (error: WireError) => isThrottling(error) || error.type === 'TransactionConflictException';
