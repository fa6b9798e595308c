import * as v from 'valibot';
import { parseStored } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

/** The most CVMs that an approval can name. */
export const mostCvms = 100;

const storedApproval = v.object({
  user_id: v.string(),
  digest: v.string(),
  configuration_digest: v.string(),
  /** The CVMs on which a run may start. Null: any CVM. */
  cvm_ids: v.nullable(v.array(v.string())),
  /**
   * The certificates of the CVMs that the approval covers, by the identifiers of the CVMs. CVMs without a certificate are absent.
   */
  certificates: v.record(v.string(), v.string()),
  /** The time before which a run must start: RFC 3339, as the user gave and signed it. Null: the approval never expires. */
  expires_at: v.nullable(v.string()),
  /** The signature of the user in base64. Null if the user did not sign. */
  signature: v.nullable(v.string()),
  /** The public key that verifies the signature: base64 of a DER SubjectPublicKeyInfo. Null if the user did not sign. */
  key: v.nullable(v.string()),
  approved_at: v.string(),
});
/** The approval of a user as it is stored with the computation. */
export type StoredApproval = v.InferOutput<typeof storedApproval>;

export function parseApproval(item: Item): StoredApproval {
  return parseStored(storedApproval, item, 'approval');
}
