import * as v from 'valibot';
import { parseStored } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

/** The most CVMs that an approval can name. */
export const mostCvms = 100;

const storedApproval = v.object({
  user_id: v.string(),
  digest: v.string(),
  configuration_digest: v.string(),
  /** The CVMs on which a run may start by the approval of a user. Null: any CVM. */
  cvm_ids: v.nullable(v.array(v.string())),
  /**
   * The registered certificates of the CVMs that a user's approval covers, by the identifiers of the CVMs. CVMs without a
   * certificate are absent.
   */
  certificates: v.record(v.string(), v.string()),
  /**
   * The time before which a run must start to be covered by a user's approval: RFC 3339, as the user gave and signed it. Null:
   * the approval never expires.
   */
  expires_at: v.nullable(v.string()),
  /** The signature of the user under an approval, in base64. Null if the user did not sign. */
  signature: v.nullable(v.string()),
  /**
   * The public key that verifies the user's signature under an approval: base64 of a DER SubjectPublicKeyInfo. Null if the user
   * did not sign.
   */
  key: v.nullable(v.string()),
  /** The newest event of the journal that the user saw, as the user signed it. Null if the user named none. */
  journal_head: v.nullable(v.object({ id: v.string(), hash: v.string() })),
  approved_at: v.string(),
});
/** The approval of a user as it is stored with the computation. */
export type StoredApproval = v.InferOutput<typeof storedApproval>;

export function parseApproval(item: Item): StoredApproval {
  return parseStored(storedApproval, item, 'approval');
}
