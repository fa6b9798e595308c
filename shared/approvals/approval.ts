import { base64Text, longestRefusal, refusalReason, shownText, strictObject } from 'computation-management-formats/fields';
import { cvmId } from 'computation-management-formats/identifiers';
import { exactTimestamp, timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { mostChanges } from 'computation-management-formats/covered-changes';
import { journalHead, mostCvms, type StoredApproval, type StoredRefusal } from '../rows/stored-approval.ts';
import type { StaleReason } from './explain-changes.ts';
import { approvalChange } from './stale-because.ts';

const ofDigest = 'The digest of the manifest: the SHA3-256, lower-case hex, of its canonical JSON (RFC 8785).';
const ofConfiguration =
  'The digest of the configuration: the SHA3-256, lower-case hex, of the canonical JSON (RFC 8785) of `{agent_config, approval, ' +
  'attestation_policy, log_access, result_review}`. `agent_config` has `cert_file`, `server_ca_file`, `client_ca_file` and `attested_tls`, with defaults.';

const hexDigest = v.pipe(
  v.string('Expected 64 hex digits.'),
  v.regex(/^[0-9a-f]{64}$/, 'Expected 64 hex digits in lower case.'),
  v.metadata({ maxLength: 64 }),
);
const digest = v.pipe(hexDigest, v.description(ofDigest));
const configurationDigest = v.pipe(hexDigest, v.description(ofConfiguration));

const notCounted = 'Expected null: approvals for a number of runs are not supported yet.';
const maxRuns = v.pipe(v.null_(notCounted), v.description('The number of runs that may start on the approval. null: any.'));
const approvalId = v.pipe(
  v.null_(notCounted),
  v.description('The identifier of the counter of runs, a UUID that you make. null without `max_runs`.'),
);

const seen = "The newest event of the computation's journal that the approver saw: its `id` and `hash`. null: none is named.";
const expectedCvms = `Expected 1 to ${mostCvms} CVMs, or null.`;

const longestSignature = 4_096;

export const approvalInput = v.pipe(
  strictObject({
    decision: v.optional(v.pipe(v.null_(), v.description('Omit it to approve.'))),
    digest,
    configuration_digest: configurationDigest,
    cvm_ids: v.optional(
      v.pipe(
        v.nullable(
          v.pipe(
            v.array(cvmId),
            v.minLength(1, expectedCvms),
            v.maxLength(mostCvms, expectedCvms),
            v.check((ids) => new Set(ids).size === ids.length, 'Expected each CVM once.'),
            v.metadata({ uniqueItems: true }),
          ),
        ),
        v.description(
          'The CVMs that a run may use. Default: any. The approval keeps the certificate fingerprints that these CVMs have now: on a ' +
            'CVM with another certificate, it does not count.',
        ),
      ),
    ),
    expires_at: v.optional(
      v.pipe(v.nullable(exactTimestamp), v.description('The time before which a run must start. Default: any time.')),
    ),
    max_runs: v.optional(maxRuns),
    approval_id: v.optional(approvalId),
    journal_head: v.optional(v.pipe(v.nullable(journalHead), v.description(seen))),
    signature: v.optional(
      v.pipe(
        v.nullable(v.pipe(base64Text, v.maxLength(longestSignature, `Expected up to ${longestSignature} characters.`))),
        v.description(
          'A signature in base64, made with the private key of the public key that you uploaded to the computation. Sign the canonical ' +
            'JSON (RFC 8785), in UTF-8, of `{type: "computation-approval", domain, computation, approver, manifest_digest, ' +
            'configuration_digest}`, with `cvm_ids`, `expires_at` and `journal_head` if you send them, as you send them. `null` counts as not ' +
            'given. `approver` is your `sub`. Algorithms: Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256, MGF1 with SHA-256 ' +
            'and a salt of 32 bytes. Required if the `approval` of the computation is `all_signed`.',
        ),
      ),
    ),
  }),
  v.title('ApprovalInput'),
  v.description('An approval to give.'),
);
export type ApprovalInput = v.InferOutput<typeof approvalInput>;

const refusalInput = v.pipe(
  strictObject({
    decision: v.pipe(v.literal('refuse'), v.description('Says that you refuse.')),
    reason: refusalReason,
  }),
  v.title('RefusalInput'),
  v.description('A refusal to approve.'),
);
export type RefusalInput = v.InferOutput<typeof refusalInput>;

export const decisionInput = v.pipe(
  v.variant('decision', [refusalInput, approvalInput], 'Expected "refuse", or no decision for an approval.'),
  v.title('DecisionInput'),
  v.description('An approval to give, or a refusal.'),
);

export const approvalSchema = v.pipe(
  v.object({
    user: v.pipe(shownText(255), v.description('The user who approved.')),
    digest,
    configuration_digest: configurationDigest,
    cvm_ids: v.pipe(
      v.nullable(v.pipe(v.array(cvmId), v.metadata({ maxItems: mostCvms }))),
      v.description('The CVMs that a run may use. null: any.'),
    ),
    expires_at: v.pipe(
      v.nullable(shownText(35)),
      v.description('The time before which a run must start, as the user sent it. null: any time.'),
    ),
    max_runs: maxRuns,
    used_runs: v.pipe(v.null_(), v.description('The number of runs that have started on the approval. null without `max_runs`.')),
    approval_id: approvalId,
    journal_head: v.pipe(v.nullable(journalHead), v.description(seen)),
    signed: v.pipe(v.boolean(), v.description('Whether the user signed the approval.')),
    stale: v.pipe(
      v.boolean(),
      v.description(
        '`true` if the approval does not count, for one of these reasons: the manifest or the configuration has changed, the approval ' +
          'has expired, it was signed with a key that the user has replaced, it is unsigned and the computation requires signatures, or ' +
          'all CVMs that it allows have other certificates.',
      ),
    ),
    stale_because: v.pipe(
      v.nullable(v.pipe(v.array(approvalChange), v.metadata({ maxItems: mostChanges }))),
      v.description(`Up to ${mostChanges} reasons why the approval does not count. null if \`stale\` is \`false\`.`),
    ),
    approved_at: v.pipe(timestamp, v.description('The time of the approval.')),
  }),
  v.title('Approval'),
  v.description('The approval of a manifest by a user.'),
);
export type Approval = v.InferOutput<typeof approvalSchema>;

export const refusalSchema = v.pipe(
  v.object({
    user: v.pipe(shownText(255), v.description('The user who refused.')),
    reason: v.pipe(shownText(longestRefusal), v.description('Why, in the words of the user.')),
    refused_at: v.pipe(timestamp, v.description('The time of the refusal.')),
  }),
  v.title('Refusal'),
  v.description('The refusal of a user to approve.'),
);
export type Refusal = v.InferOutput<typeof refusalSchema>;

export const decisionSchema = v.pipe(
  v.union([approvalSchema, refusalSchema]),
  v.title('Decision'),
  v.description('The approval that was given, or the refusal.'),
);

/**
 * Returns a stored approval of a computation in the form that the API shows.
 * @param because the reasons why the approval does not count any more; empty if it counts
 */
export function describeApproval(stored: StoredApproval, because: StaleReason[]): Approval {
  const { user_id, digest, configuration_digest, cvm_ids, expires_at, journal_head, signature, approved_at } = stored;
  const stale = because.length > 0;
  return {
    user: user_id,
    digest,
    configuration_digest,
    cvm_ids,
    expires_at,
    max_runs: null,
    used_runs: null,
    approval_id: null,
    journal_head,
    signed: signature !== null,
    stale,
    stale_because: stale ? because.slice(0, mostChanges) : null,
    approved_at,
  };
}

/** Returns a stored refusal in the form that the API shows. */
export function describeRefusal({ user_id, reason, refused_at }: StoredRefusal): Refusal {
  return { user: user_id, reason, refused_at };
}
