import { strictObject } from 'computation-management-formats/fields';
import { comparedId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { parseStored } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

/** The most CVMs that an approval can name. */
export const mostCvms = 100;

/** Schema of an event of the journal that an approval names: the newest that its user saw. */
export const journalHead = v.pipe(
  strictObject({
    id: v.pipe(comparedId(), v.description('The identifier of the event.')),
    hash: v.pipe(
      v.string('Expected 64 hex digits.'),
      v.regex(/^[0-9a-f]{64}$/, 'Expected 64 hex digits in lower case.'),
      v.description('The hash of the event.'),
      v.metadata({ maxLength: 64 }),
    ),
  }),
  v.title('JournalHead'),
  v.description('An event of the journal.'),
);

const storedApproval = v.object({
  user_id: v.string(),
  digest: v.string(),
  configuration_digest: v.string(),
  /** The CVMs on which a run may start by the approval of a user. Null: any CVM. */
  cvm_ids: v.nullable(v.array(v.string())),
  /**
   * The fingerprints of the certificates that the CVMs of a user's approval had when it was given, by the identifiers of the CVMs.
   * Null for a CVM that had no certificate or was not registered.
   */
  certificates: v.record(v.string(), v.nullable(v.string())),
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
  journal_head: v.nullable(journalHead),
  approved_at: v.string(),
});
/** The approval of a user as it is stored with the computation. */
export type StoredApproval = v.InferOutput<typeof storedApproval>;

export function parseApproval(item: Item): StoredApproval {
  return parseStored(storedApproval, item, 'approval');
}

const storedRefusal = v.object({
  user_id: v.string(),
  /** The digests of what the user refused. `digest` is null if there was no manifest. */
  digest: v.nullable(v.string()),
  configuration_digest: v.string(),
  reason: v.string(),
  refused_at: v.string(),
});
/** The refusal of a user to approve as it is stored with the computation. */
export type StoredRefusal = v.InferOutput<typeof storedRefusal>;

export function parseRefusal(item: Item): StoredRefusal {
  return parseStored(storedRefusal, item, 'refusal');
}
