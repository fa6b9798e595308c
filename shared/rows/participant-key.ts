import * as v from 'valibot';
import { computationKey, parseComputation } from './read-computation.ts';
import { computationKeys } from '../table/keys.ts';
import { getItems, type Item, parseStored, type Table } from '../table/table.ts';

const participantKey = v.object({
  user_id: v.string(),
  /** Base64 of a DER SubjectPublicKeyInfo. */
  user_key: v.string(),
  fingerprint: v.string(),
  is_consumer: v.boolean(),
  uploaded_at: v.string(),
});
export type ParticipantKey = v.InferOutput<typeof participantKey>;

export function parseParticipantKey(item: Item): ParticipantKey {
  return parseStored(participantKey, item, 'participant key');
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
