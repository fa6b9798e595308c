import type { Caller } from '../access/caller.ts';
import type { ParticipantKey } from './participant-key.ts';
import { readPublicKey } from './read-public-key.ts';

/**
 * Returns the key that a caller gives to a computation, as it is stored.
 * @param now RFC 3339, UTC, milliseconds
 * @throws ServiceError `invalid_request` if it is no public key that the service takes
 */
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
