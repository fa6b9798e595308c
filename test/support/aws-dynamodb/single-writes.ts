import type { Front } from './front.ts';
import { itemSize, writeUnits } from './item-size.ts';
import type { ItemRequest, Json } from './wire.ts';
import { conflictError, throttlingError, WireError } from './wire-error.ts';

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
