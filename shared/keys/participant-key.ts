import * as v from 'valibot';
import { changeInputsWithEvent, keysToChange, parseToChange } from '../computations/change-computation.ts';
import { computationKey, computationNumber, parseComputation } from '../computations/read-computation.ts';
import type { NewEvent } from '../events/event.ts';
import { commitChange, type AnswerKeeper, type Committed } from '../table/commit-change.ts';
import { computationKeys, userKeys, type Key } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import type { Action } from '../table/action.ts';
import { StaleReadError, Transaction, withFreshReads } from '../table/transaction.ts';

const participantKey = v.object({
  user_id: v.string(),
  /** Base64 of a DER SubjectPublicKeyInfo. */
  user_key: v.string(),
  fingerprint: v.string(),
  /** Whether the user had the role result_consumer at the time of the upload. */
  is_consumer: v.boolean(),
  uploaded_at: v.string(),
});
/** The public key that a participant uploaded to a computation. */
export type ParticipantKey = v.InferOutput<typeof participantKey>;

export function parseParticipantKey(item: Item): ParticipantKey {
  return parseStored(participantKey, item, 'participant key');
}

/**
 * Stores a participant's key and replaces an earlier one. Writes nothing if the key is the same. Two round trips.
 * @throws ServiceError `not_found`
 */
export async function uploadKey(
  table: Table,
  domain: string,
  computationId: string,
  key: ParticipantKey,
  answerKeeper?: AnswerKeeper,
): Promise<Committed<{ uploaded: true }>> {
  const itemKey = computationKeys.userKey(computationId, key.user_id);
  return await withFreshReads(table, async (table) => {
    const [existing, ...items] = await getItems(table, [itemKey, ...keysToChange(domain, computationId)]);
    const computation = parseToChange(domain, computationId, items);
    const transaction = new Transaction();
    const before = existing && parseParticipantKey(existing);
    if (before?.user_key === key.user_key && before.is_consumer === key.is_consumer) {
      return await commitChange(table, transaction, { uploaded: true }, answerKeeper);
    }
    const event: NewEvent = {
      event_type: 'key_uploaded',
      status: 'success',
      originator: key.user_id,
      details: { fingerprint: key.fingerprint },
      lifecycle: false,
    };
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, event, now: key.uploaded_at });
    transaction.add(replacementOf(before, { ...itemKey, ...key }));
    const place = userKeys.key(domain, key.user_id, computationNumber(computationId));
    if (!before) transaction.add({ put: { Item: { ...place } } });
    return await commitChange(table, transaction, { uploaded: true }, answerKeeper);
  });
}

/** The condition finds a key that was read during the transaction that replaced it, and so is older than the computation's row. */
function replacementOf(before: ParticipantKey | undefined, after: Item & Key): Action {
  if (!before) return { put: { Item: after, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() };
  const put = {
    Item: after,
    ConditionExpression: 'user_key = :key and is_consumer = :consumer',
    ExpressionAttributeValues: { ':key': before.user_key, ':consumer': before.is_consumer },
  };
  return { put, otherwise: new StaleReadError() };
}

/** Returns whether the user uploaded a key to the computation. One round trip. @throws ServiceError `not_found` */
export async function hasKey(table: Table, domain: string, computationId: string, userId: string): Promise<boolean> {
  const [row, key] = await getItems(table, [
    computationKey(domain, computationId),
    computationKeys.userKey(computationId, userId),
  ]);
  parseComputation(row, computationId);
  return key !== undefined;
}
