import { changeInputsWithEvent, keysToChange, parseToChange } from '../computations/change-computation.ts';
import { computationNumber } from '../computations/read-computation.ts';
import type { NewEvent } from '../events/event.ts';
import {
  commitChange,
  type AnsweredRequest,
  type AnswerKeeper,
  type Committed,
  type Action,
  Transaction,
} from '../table/transaction.ts';
import { computationKeys, userKeys, type Key } from '../table/keys.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import { StaleReadError, withFreshReads } from '../table/fresh-reads.ts';

import type { Caller } from '../access/caller.ts';
import { parseParticipantKey, type ParticipantKey } from './participant-key.ts';
import { readPublicKey } from './read-public-key.ts';

/** @param now RFC 3339, UTC, milliseconds @throws ServiceError `invalid_request` if it is no public key that the service takes */
export function givenKey(caller: Caller, key: string, now: string): ParticipantKey {
  const { spki, fingerprint } = readPublicKey(key, '/key');
  return {
    user_id: caller.id,
    user_key: spki.toString('base64'),
    fingerprint,
    is_consumer: caller.roles.has('result_consumer'),
    uploaded_at: now,
  };
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

/** The condition finds a key that was read during the transaction that replaced it. */
function replacementOf(before: ParticipantKey | undefined, after: Item & Key): Action {
  if (!before) return { put: { Item: after, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() };
  const put = {
    Item: after,
    ConditionExpression: 'user_key = :key and is_consumer = :consumer',
    ExpressionAttributeValues: { ':key': before.user_key, ':consumer': before.is_consumer },
  };
  return { put, otherwise: new StaleReadError() };
}

interface RemovalRequest extends AnsweredRequest {
  domain: string;
  computationId: string;
  /** Whose key. */
  user: string;
  by: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** Called if the key is another user's. Throws to refuse the request. */
  permitOther: (owner: string) => unknown;
}

/**
 * Removes a user's key, and the user's approval with it. Active runs keep their manifest. Writes nothing if there is no key. Two
 * round trips.
 * @throws ServiceError `not_found`, and what `permitOther` throws
 */
export async function removeKey(table: Table, request: RemovalRequest): Promise<Committed<object>> {
  const { domain, computationId, user, by, now, permitOther, answerKeeper } = request;
  const Key = computationKeys.userKey(computationId, user);
  return await withFreshReads(table, async (table) => {
    const [existing, ...items] = await getItems(table, [Key, ...keysToChange(domain, computationId)]);
    const computation = parseToChange(domain, computationId, items);
    if (user !== by) permitOther(computation.row.owner);
    const transaction = new Transaction();
    if (!existing) return await commitChange(table, transaction, {}, answerKeeper);
    const before = parseParticipantKey(existing);
    const details = { user, fingerprint: before.fingerprint };
    const event = { event_type: 'key_removed', status: 'success', originator: by, details, lifecycle: false } as const;
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, event, now });
    transaction.add(
      {
        delete: {
          Key,
          ConditionExpression: 'user_key = :key',
          ExpressionAttributeValues: { ':key': before.user_key },
        },
        otherwise: new StaleReadError(),
      },
      { delete: { Key: computationKeys.approval(computationId, user) } },
      { delete: { Key: userKeys.key(domain, user, computationNumber(computationId)) } },
    );
    return await commitChange(table, transaction, {}, answerKeeper);
  });
}
