import type { Front } from './front.ts';
import { itemSize, readUnits } from './item-size.ts';
import { checkActions, checkActionsDiffer } from './quotas.ts';
import { asksForCapacity } from './single-writes.ts';
import type { Json, TransactGetRequest } from './wire.ts';
import { cancelledError, conflictReason, throttlingReason } from './wire-error.ts';

const leastUnits = 2;

/**
 * Reads all items at the same time. Counts the units of the answer only, so a projection makes the count too low.
 * @throws WireError TransactionCanceledException if an item is being written, or its partition key is throttled.
 */
export async function transactGetItems(front: Front, request: TransactGetRequest): Promise<Json> {
  const { engine, figures, keySchemas, locks, meter } = front;
  checkActions(request.TransactItems);
  const refs = await Promise.all(request.TransactItems.map(({ Get }) => keySchemas.refOf(Get)));
  const ids = refs.map(({ id }) => id);
  checkActionsDiffer(ids);
  const conflicts = ids.map((id) => (locks.isWritten(id) ? conflictReason : undefined));
  if (conflicts.some(Boolean)) {
    figures.conflicts++;
    figures.conflictingItems.push(...ids.filter((_, index) => conflicts[index]).map((id) => `transaction ${id}`));
    throw cancelledError(conflicts);
  }
  const reserved = refs.map(({ partitionKey }) => meter.reserve('read', partitionKey, leastUnits));

  const consumed = refs.map(() => 0);
  const leave = locks.enter(ids, 'read');
  try {
    if (reserved.includes(false)) throw cancelledError(reserved.map((isLetIn) => (isLetIn ? undefined : throttlingReason)));
    const { Responses: responses } = await engine.call('TransactGetItems', { TransactItems: request.TransactItems });
    for (const index of refs.keys()) consumed[index] = 2 * readUnits(itemSize(responses?.[index]?.Item));
    return {
      Responses: responses,
      ...(asksForCapacity(request) && { ConsumedCapacity: capacityByTable(refs, consumed) }),
    };
  } finally {
    leave();
    for (const [index, { partitionKey }] of refs.entries())
      meter.settle('read', partitionKey, reserved[index] ? leastUnits : 0, consumed[index] ?? 0);
  }
}

/** Returns the units of a transaction's items as ConsumedCapacity. */
export function capacityByTable(refs: { tableName: string }[], units: number[]): Json[] {
  const totals = new Map<string, number>();
  for (const [index, { tableName }] of refs.entries()) totals.set(tableName, (totals.get(tableName) ?? 0) + (units[index] ?? 0));
  return [...totals].map(([TableName, CapacityUnits]) => ({ TableName, CapacityUnits }));
}
