import type { Front } from './front.ts';
import { asksForCapacity, withCapacity } from './single-writes.ts';
import type { Capacity, ItemRequest, WireItem } from './wire.ts';
import { throttlingError } from './wire-error.ts';

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
