import * as v from 'valibot';
import type { Item } from '../table/table.ts';
import { parseStored } from '../table/parse-stored.ts';

/** The longest list of CVMs that an approval is limited to. */
export const mostCvms = 100;

const storedApproval = v.object({
  user_id: v.string(),
  /** The digest of the manifest that the user approved. */
  digest: v.string(),
  /** The digest of the agent's configuration that goes with it, without what an approval does not cover. */
  config_digest: v.string(),
  /** The CVMs that the approval is limited to. null or empty: any. */
  cvm_ids: v.nullable(v.array(v.string())),
  /** RFC 3339, as the user gave and signed it. null: never. */
  expires_at: v.nullable(v.string()),
  /** Base64. null if the user did not sign. */
  signature: v.nullable(v.string()),
  /** The key that the signature was verified with, base64 of a DER SubjectPublicKeyInfo. null if the user did not sign. */
  key: v.nullable(v.string()),
  approved_at: v.string(),
});
/** A user's approval of a computation's manifest, as it is stored: the last one that the user gave. */
export type StoredApproval = v.InferOutput<typeof storedApproval>;

export function parseApproval(item: Item): StoredApproval {
  return parseStored(storedApproval, item, 'approval');
}
