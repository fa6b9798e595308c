import type { Action } from './engine.ts';
import type { Front, WrittenTransaction } from './front.ts';
import { asksForCapacity } from './items.ts';
import {
  checkActions,
  checkActionsDiffer,
  checkExpressions,
  checkTransactionSize,
  itemSize,
  readUnits,
  writeUnits,
} from './limits.ts';
import {
  cancelledError,
  conflictReason,
  type Json,
  throttlingReason,
  type TransactGetRequest,
  type TransactWriteRequest,
  validationError,
  WireError,
} from './wire.ts';

const leastUnits = 2;

/** @throws WireError TransactionCanceledException if another operation has taken one of the items */
function refuseConflicts({ figures }: Front, ids: string[], isTaken: (id: string) => boolean): void {
  if (!ids.some(isTaken)) return;
  figures.conflicts++;
  figures.conflictingItems.push(...ids.filter(isTaken).map((id) => `transaction ${id}`));
  throw cancelledError(ids.map((id) => (isTaken(id) ? conflictReason : undefined)));
}

/**
 * Reads all items at the same time. Counts the units of the answer only, so a projection makes the count too low.
 * @throws WireError TransactionCanceledException if an item is being written, or its partition key is throttled.
 */
export async function transactGetItems(front: Front, request: TransactGetRequest): Promise<Json> {
  const { engine, keySchemas, locks, meter } = front;
  checkActions(request.TransactItems);
  const refs = await Promise.all(request.TransactItems.map(({ Get }) => keySchemas.refOf(Get)));
  const ids = refs.map(({ id }) => id);
  checkActionsDiffer(ids);
  refuseConflicts(front, ids, locks.isWritten);
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
function capacityByTable(refs: { tableName: string }[], units: number[]): Json[] {
  const totals = new Map<string, number>();
  for (const [index, { tableName }] of refs.entries()) totals.set(tableName, (totals.get(tableName) ?? 0) + (units[index] ?? 0));
  return [...totals].map(([TableName, CapacityUnits]) => ({ TableName, CapacityUnits }));
}

/**
 * Writes all actions or none.
 *
 * The transaction holds its items from its arrival to its acknowledgement. Its outcome is decided immediately (see Rehearsal)
 * and then written to the table item by item, each at a random time within the transaction's duration (see Reveals). So the
 * engine always has exactly what plain reads may see: they need no locks, copies or rewritten pages, and an item never reverts.
 * The acknowledgement follows when all is written.
 *
 * A repetition with the same client request token gets the answer of the first request, and costs only reads.
 * @throws WireError TransactionCanceledException and the other errors of DynamoDB
 */
export async function transactWriteItems(front: Front, request: TransactWriteRequest): Promise<Json> {
  const actions = await actionsOf(front, request);
  const refs = actions.map(({ ref }) => ref);
  const parameters = JSON.stringify(request.TransactItems);
  const { result, isRepeat } = await front.tokens.once(request.ClientRequestToken, parameters, () => write(front, actions));
  const units = isRepeat ? result.changes.map(({ after }) => 2 * readUnits(itemSize(after))) : result.writeUnits;
  if (isRepeat) {
    for (const [index, { partitionKey }] of refs.entries()) front.meter.settle('read', partitionKey, 0, units[index] ?? 0);
  }
  return asksForCapacity(request) ? { ConsumedCapacity: capacityByTable(refs, units) } : {};
}

async function actionsOf({ keySchemas }: Front, { TransactItems }: TransactWriteRequest): Promise<Action[]> {
  checkActions(TransactItems);
  const actions = await Promise.all(
    TransactItems.map(async (item) => {
      const [[kind, action] = [], ...others] = Object.entries(item);
      if (kind === undefined || !action || others.length > 0) {
        throw validationError('TransactItems can only contain one of Check, Put, Update or Delete');
      }
      checkExpressions(action);
      return { kind, request: action, ref: await keySchemas.refOf(action) };
    }),
  );
  checkActionsDiffer(actions.map(({ ref }) => ref.id));
  checkTransactionSize(actions.map((action) => action.request));
  return actions;
}

async function write(front: Front, actions: Action[]): Promise<WrittenTransaction> {
  const { durations, figures, locks, meter, rehearsal, reveals } = front;
  const ids = actions.map(({ ref }) => ref.id);
  refuseConflicts(front, ids, locks.isHeld);
  const reserved = actions.map(({ ref }) => meter.reserve('write', ref.partitionKey, leastUnits));

  let consumed = actions.map(() => 0);
  const release = locks.hold(ids);
  try {
    if (reserved.includes(false)) throw cancelledError(reserved.map((isLetIn) => (isLetIn ? undefined : throttlingReason)));
    await locks.untilFree(ids);
    const changes = await rehearsal.decide(actions);
    consumed = changes.map(({ before, after }) => 2 * writeUnits(Math.max(itemSize(before), itemSize(after))));
    const visible = changes.filter((_, index) => actions[index]?.kind !== 'ConditionCheck');
    await reveals.reveal(visible, durations.transaction);
    figures.transactions++;
    return { changes, writeUnits: consumed };
  } catch (error) {
    if (isCancelledByCondition(error)) consumed = await unitsOfPreparing(front, actions);
    throw error;
  } finally {
    release();
    for (const [index, { ref }] of actions.entries())
      meter.settle('write', ref.partitionKey, reserved[index] ? leastUnits : 0, consumed[index] ?? 0);
  }
}

function isCancelledByCondition(error: unknown): boolean {
  return error instanceof WireError && JSON.stringify(error.body['CancellationReasons'] ?? '').includes('ConditionalCheckFailed');
}

/** A transaction is written twice, to prepare and to commit it. One that a condition cancels is assumed to cost the first half. */
async function unitsOfPreparing({ rehearsal }: Front, actions: Action[]): Promise<number[]> {
  const items = await rehearsal.itemsOf(actions.map(({ ref }) => ref));
  return items.map((item) => writeUnits(itemSize(item)));
}
