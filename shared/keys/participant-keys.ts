import { toBase64 } from 'computation-management-formats/bytes';
import {
  changeInputsWithEvent,
  type ComputationToChange,
  keysToChange,
  parseToChange,
  recordBesideInputs,
} from '../rows/change-computation.ts';
import { administrativeEvent, type NewEvent } from '../journal/journal.ts';
import {
  type UserRequest,
  type AnswerKeeper,
  type Committed,
  type Action,
  type Transaction,
  readSettled,
  StaleReadError,
  makeChange,
} from '../table/transaction.ts';
import { approvedKeys, computationKeys, type Key } from '../table/keys.ts';
import { type Table, type Item, getItems } from '../table/table.ts';
import { hasAttributes, isAbsent } from '../table/writes.ts';

import type { Caller } from '../http/caller.ts';
import { recordAct } from '../rows/run-acts.ts';
import { readPublicKey } from '../rows/public-key.ts';
import { parseParticipantKey, type ParticipantKey } from '../rows/manifest.ts';
import { readDefinition } from '../rows/definition.ts';
import { computationKey, parseComputation } from '../rows/computation.ts';

/**
 * Reads the public key that a caller uploads to a computation.
 * @param now RFC 3339, UTC, milliseconds
 * @throws ServiceError `invalid_request` if it is no public key that the service takes
 */
export function givenKey(caller: Caller, key: string, now: string): ParticipantKey {
  const { spki, fingerprint } = readPublicKey(key, '/key');
  return {
    user_id: caller.id,
    user_key: toBase64(spki),
    fingerprint,
    is_consumer: caller.roles.has('result_consumer'),
    uploaded_at: now,
  };
}

/** Everything that must be read before the public key that a user uploaded to a computation changes. */
interface KeyToChange {
  computation: ComputationToChange;
  before: ParticipantKey | undefined;
  hasApproved: boolean;
}

/**
 * Reads a computation, the key that a user uploaded to it, and whether the user has approved. One round trip.
 * @throws ServiceError `not_found`
 */
async function readToChangeKey(table: Table, domain: string, computationId: string, user: string): Promise<KeyToChange> {
  const keys = [computationKeys.userKey(computationId, user), computationKeys.approval(computationId, user)];
  const [key, approval, ...items] = await readSettled(table, [...keys, ...keysToChange(domain, computationId)]);
  const computation = parseToChange(domain, computationId, items);
  return { computation, before: key && parseParticipantKey(key), hasApproved: approval !== undefined };
}

/**
 * Adds the event of a changed public key of a user to the transaction. The computation gets a new version for starts of runs only
 * if the key may be in the manifest or an approval depends on it: otherwise any user with `view` could hold up the starts of
 * others. One round trip, or none for the owner and those who approved.
 */
async function recordKeyChange(
  table: Table,
  transaction: Transaction,
  { computation, before, hasApproved }: KeyToChange,
  { user, after, event, now }: { user: string; after?: ParticipantKey; event: NewEvent; now: string },
): Promise<void> {
  const isConsumer = (before?.is_consumer ?? false) || (after?.is_consumer ?? false);
  // defence
  if (hasApproved || (await isParty(table, computation, { user, isConsumer }))) {
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, event, now });
  } else {
    await recordBesideInputs(table, transaction, computation, event, now);
  }
}

/** Tells whether a user is the owner of a computation, the creator of a linked asset, a named provider, a reviewer or a result consumer. */
async function isParty(
  table: Table,
  { row }: ComputationToChange,
  { user, isConsumer }: { user: string; isConsumer: boolean },
): Promise<boolean> {
  if (user === row.owner) return true;
  const { algorithm, datasets, consumers, providers, result_review } = await readDefinition(table, row.id);
  if ([...providers, ...(result_review?.reviewers ?? [])].includes(user)) return true;
  if ([algorithm, ...datasets].some((link) => link?.created_by === user)) return true;
  return consumers.length > 0 ? consumers.includes(user) : isConsumer;
}

/**
 * Uploads the public key of a user to a computation, in place of an earlier key. Writes nothing if the key is the same. Two round
 * trips, or three unless the user is the owner or has approved.
 * @throws ServiceError `not_found`
 */
export async function uploadKey(
  table: Table,
  domain: string,
  computationId: string,
  key: ParticipantKey,
  answerKeeper?: AnswerKeeper,
): Promise<Committed<{ uploaded: true }>> {
  const { user_id: user, uploaded_at: now } = key;
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const found = await readToChangeKey(table, domain, computationId, user);
    const { before } = found;
    if (before?.user_key === key.user_key && before.is_consumer === key.is_consumer) {
      return { uploaded: true };
    }
    const event = administrativeEvent('key_uploaded', user, { fingerprint: key.fingerprint });
    await recordKeyChange(table, transaction, found, { user, after: key, event, now });
    transaction.add(replacementOf(before, { ...computationKeys.userKey(computationId, user), ...key }));
    return { uploaded: true };
  });
}

/**
 * Returns the action that stores a user's public key of a computation. Its condition fails if the key has changed since it was
 * read, also if it was read during the transaction that replaced it.
 */
function replacementOf(before: ParticipantKey | undefined, after: Item & Key): Action {
  const { user_key, is_consumer } = before ?? {};
  const put = { Item: after, ...(before ? hasAttributes({ user_key, is_consumer }) : isAbsent) };
  return { put, otherwise: StaleReadError };
}

interface RemovalRequest extends UserRequest {
  computationId: string;
  user: string;
  /**
   * Checks that the caller may remove another user's public key. Called only for another user's key. Throws to refuse the
   * request.
   */
  permitOther: (owner: string) => unknown;
}

/**
 * Removes a user's public key from a computation, with the user's approval. Active runs keep their manifest. Writes nothing if
 * there is no key. Two round trips, or three unless the user is the owner or has approved, and one more for the user's own key while a run is active.
 * @throws ServiceError `not_found`, and what `permitOther` throws
 */
export async function removeKey(table: Table, request: RemovalRequest): Promise<Committed<object>> {
  const { domain, computationId, user, by, now, permitOther, answerKeeper } = request;
  const Key = computationKeys.userKey(computationId, user);
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const found = await readToChangeKey(table, domain, computationId, user);
    const { before, computation } = found;
    if (user !== by) permitOther(computation.row.owner);
    if (!before) return {};
    const details = { user, fingerprint: before.fingerprint };
    const event = administrativeEvent('key_removed', by, details);
    await recordKeyChange(table, transaction, found, { user, event, now });
    if (user === by) await recordAct(table, transaction, computation, { user, now }, () => 'withdrew');
    transaction.add(
      { delete: { Key, ...hasAttributes({ user_key: before.user_key }) }, otherwise: StaleReadError },
      { delete: { Key: computationKeys.approval(computationId, user) } },
      { delete: { Key: approvedKeys.approved(computationId, user) } },
    );
    return {};
  });
}

/** Tells whether a user has uploaded a public key to a computation. One round trip. @throws ServiceError `not_found` */
export async function hasKey(table: Table, domain: string, computationId: string, userId: string): Promise<boolean> {
  const [row, key] = await getItems(table, [
    computationKey(domain, computationId),
    computationKeys.userKey(computationId, userId),
  ]);
  parseComputation(row, computationId);
  return key !== undefined;
}
