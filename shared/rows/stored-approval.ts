import * as v from 'valibot';
import { parseStored } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

export const mostCvms = 100;

const storedApproval = v.object({
  user_id: v.string(),
  digest: v.string(),
  configuration_digest: v.string(),
  /** null: any. */
  cvm_ids: v.nullable(v.array(v.string())),
  /** By the CVMs' identifiers. Absent without a certificate. */
  certificates: v.record(v.string(), v.string()),
  /** RFC 3339, as the user gave and signed it. null: never. */
  expires_at: v.nullable(v.string()),
  /** Base64. null if the user did not sign. */
  signature: v.nullable(v.string()),
  /** Base64 of a DER SubjectPublicKeyInfo. */
  key: v.nullable(v.string()),
  approved_at: v.string(),
});
export type StoredApproval = v.InferOutput<typeof storedApproval>;

export function parseApproval(item: Item): StoredApproval {
  return parseStored(storedApproval, item, 'approval');
}
