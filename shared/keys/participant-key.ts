import * as v from 'valibot';
import { computationKey, parseComputation } from '../computations/read-computation.ts';
import type { NewEvent } from '../events/event.ts';
import { appendEvents } from '../events/journal.ts';
import { parseHead } from '../events/journal-head.ts';
import { parseStored } from '../table/parse-stored.ts';
import { computationKeys, journalKeys } from '../table/keys.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../table/transaction.ts';

const participantKey = v.object({
  user_id: v.string(),
  /** Base64 DER SubjectPublicKeyInfo. */
  user_key: v.string(),
  fingerprint: v.string(),
  /** Whether the user had the role result_consumer when uploading. */
  is_consumer: v.boolean(),
  uploaded_at: v.string(),
});
/** The public key that a participant uploaded to a computation. */
export type ParticipantKey = v.InferOutput<typeof participantKey>;

export function parseParticipantKey(item: Item): ParticipantKey {
  return parseStored(participantKey, item, 'participant key');
}

/**
 * Stores a participant's key, replacing an earlier one; the same key again writes nothing. Two round trips.
 * @throws ServiceError `not_found`
 */
export async function uploadKey(table: Table, domain: string, computationId: string, key: ParticipantKey): Promise<void> {
  const rowKey = computationKey(domain, computationId);
  const itemKey = computationKeys.userKey(computationId, key.user_id);
  await withFreshReads(table, async (table) => {
    const [row, existing, head] = await getItems(table, [rowKey, itemKey, journalKeys.head(computationId)]);
    const computation = parseComputation(row, computationId);
    const before = existing && parseParticipantKey(existing);
    if (before?.user_key === key.user_key && before.is_consumer === key.is_consumer) return;
    const event: NewEvent = {
      event_type: 'key_uploaded',
      status: 'success',
      originator: key.user_id,
      lifecycle: false,
      details: { fingerprint: key.fingerprint },
    };
    const journal = await appendEvents(table, computationId, parseHead(head), [event], key.uploaded_at);
    await transact(table, [
      { put: { Item: { ...itemKey, ...key } } },
      {
        update: {
          Key: rowKey,
          UpdateExpression: 'SET inputs_version = inputs_version + :one',
          ConditionExpression: 'id = :id AND inputs_version = :read',
          ExpressionAttributeValues: { ':one': 1, ':id': computationId, ':read': computation.inputs_version },
        },
        otherwise: new StaleReadError(),
      },
      ...journal.actions,
    ]);
  });
}

/** One round trip. @throws ServiceError `not_found` */
export async function hasKey(table: Table, domain: string, computationId: string, userId: string): Promise<boolean> {
  const [row, key] = await getItems(table, [
    computationKey(domain, computationId),
    computationKeys.userKey(computationId, userId),
  ]);
  parseComputation(row, computationId);
  return key !== undefined;
}
