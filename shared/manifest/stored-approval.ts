import type { Configuration } from 'computation-management-formats/approval-text';
import * as v from 'valibot';
import type { Manifest } from './manifest.ts';
import type { Item } from '../table/table.ts';
import { deflated, inflated } from '../table/deflated.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';

export const mostCvms = 100;

const storedApproval = v.object({
  user_id: v.string(),
  /** Of the manifest. */
  digest: v.string(),
  configuration_digest: v.string(),
  /** null: any. */
  cvm_ids: v.nullable(v.array(v.string())),
  /** The certificate fingerprints that these CVMs had, by their identifiers. Those without a certificate are absent. */
  certificates: v.record(v.string(), v.string()),
  /** RFC 3339, as the user gave and signed it. null: never. */
  expires_at: v.nullable(v.string()),
  /** Base64. null if the user did not sign. */
  signature: v.nullable(v.string()),
  /** The key of the signature, base64 of a DER SubjectPublicKeyInfo. */
  key: v.nullable(v.string()),
  approved_at: v.string(),
});
/** The last one that a user gave. */
export type StoredApproval = v.InferOutput<typeof storedApproval>;

export function parseApproval(item: Item): StoredApproval {
  return parseStored(storedApproval, item, 'approval');
}

/** What a user approved. */
interface Approved {
  manifest: Manifest;
  configuration: Configuration;
}

const storedApproved = v.object({ approved: storedBytes });

/** The attributes of the item at `approvedKeys`. Deflated: a manifest may have 256 KB. */
export function approvedAttributes({ manifest, configuration }: Approved): v.InferOutput<typeof storedApproved> {
  return { approved: deflated(JSON.stringify({ manifest, configuration })) };
}

export function parseApproved(item: Item | undefined): Approved {
  return JSON.parse(inflated(parseStored(storedApproved, item, 'approved manifest').approved)) as Approved;
}
