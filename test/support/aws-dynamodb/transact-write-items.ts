import type { Front, WrittenTransaction } from './front.ts';
import { itemSize, readUnits, writeUnits } from './item-size.ts';
import { checkActions, checkActionsDiffer, checkExpressions, checkTransactionSize } from './quotas.ts';
import type { Action } from './rehearsal.ts';
import { asksForCapacity } from './single-writes.ts';
import { capacityByTable } from './transact-get-items.ts';
import type { Json, TransactWriteRequest } from './wire.ts';
import { cancelledError, conflictReason, throttlingReason, validationError, WireError } from './wire-error.ts';

const leastUnits = 2;

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
  const conflicts = ids.map((id) => (locks.isHeld(id) ? conflictReason : undefined));
  if (conflicts.some(Boolean)) {
    figures.conflicts++;
    figures.conflictingItems.push(...ids.filter((_, index) => conflicts[index]).map((id) => `transaction ${id}`));
    throw cancelledError(conflicts);
  }
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
