import { etagOf } from '../etag.ts';
import type { Cvm } from './cvm.ts';

/**
 * Returns the entity tag of a registered CVM. Its presence is in a part of its own, which If-Match does not compare, because it
 * changes by itself.
 */
export function cvmEtag({ id, description, certificate_fingerprint, created_at, updated_at, presence }: Cvm): string {
  const { state, last_seen_at, agent_state, fit } = presence;
  return etagOf([id, description, certificate_fingerprint, created_at, updated_at], [state, last_seen_at, agent_state, fit]);
}
