import {
  described,
  longestRefusal,
  namedInput,
  namedObject,
  orNull,
  refusalReason,
  shownText,
} from 'computation-management-formats/fields';
import { cvmId } from 'computation-management-formats/identifiers';
import { exactTimestamp, timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { mostChanges } from 'computation-management-formats/covered-changes';
import {
  hexDigest,
  journalHead,
  mostCvms,
  signatureText,
  type StoredApproval,
  type StoredRefusal,
  type UsedRuns,
  usedRunsOf,
} from '../rows/stored-approval.ts';
import { type StaleReason, approvalChange } from './explain-changes.ts';

const ofDigest = 'The digest of the manifest: the SHA3-256, lower-case hex, of its canonical JSON (RFC 8785).';
const ofConfiguration =
  'The digest of the configuration: the SHA3-256, lower-case hex, of the canonical JSON (RFC 8785) of `{agent_config, approval, ' +
  'attestation_policy, log_access, result_review}`. `agent_config` has `cert_file`, `server_ca_file`, `client_ca_file` and `attested_tls`, with defaults.';

const digest = described(hexDigest, ofDigest);
const configurationDigest = described(hexDigest, ofConfiguration);

const mostRuns = 1_000;
const expectedRuns = `Expected a whole number from 1 to ${mostRuns}, or null.`;
const maxRuns = orNull(
  v.pipe(v.number(expectedRuns), v.integer(expectedRuns), v.minValue(1, expectedRuns), v.maxValue(mostRuns, expectedRuns)),
  'The number of runs that may start on the approval. null: any.',
);
const ofApprovalId =
  'The identifier of the counter of runs, a new UUID that you make for this approval. null without `max_runs`.';
const approvalId = orNull(
  v.pipe(v.string(), v.uuid('Expected a UUID.'), v.toLowerCase(), v.metadata({ format: 'uuid', maxLength: 36 })),
  ofApprovalId,
);

const seen = "The newest event of the computation's journal that the approver saw: its `id` and `hash`. null: none is named.";
const expectedCvms = `Expected 1 to ${mostCvms} CVMs, or null.`;

export const approvalInput = v.pipe(
  namedInput('ApprovalInput', 'An approval to give.', {
    decision: v.optional(described(v.null_(), 'Omit it to approve.')),
    digest,
    configuration_digest: configurationDigest,
    cvm_ids: v.optional(
      orNull(
        v.pipe(
          v.array(cvmId),
          v.minLength(1, expectedCvms),
          v.maxLength(mostCvms, expectedCvms),
          v.check((ids) => new Set(ids).size === ids.length, 'Expected each CVM once.'),
          v.metadata({ uniqueItems: true }),
        ),
        'The CVMs that a run may use. Default: any. The approval keeps the certificate fingerprints that these CVMs have now: on a ' +
          'CVM with another certificate, it does not count.',
      ),
    ),
    expires_at: v.optional(orNull(exactTimestamp, 'The time before which a run must start. Default: any time.')),
    max_runs: v.optional(maxRuns),
    approval_id: v.optional(approvalId),
    journal_head: v.optional(orNull(journalHead, seen)),
    signature: v.optional(
      orNull(
        signatureText,
        'A signature in base64, made with the private key of the public key that you uploaded to the computation. Sign the canonical ' +
          'JSON (RFC 8785), in UTF-8, of `{type: "computation-approval", domain, computation, approver, manifest_digest, ' +
          'configuration_digest}`, with `cvm_ids`, `expires_at`, `max_runs`, `approval_id` and `journal_head` if you send them, as you send them, identifiers in ' +
          'lower case. `null` counts as not given. `approver` is your `sub`. Algorithms: Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256, MGF1 with SHA-256 ' +
          'and a salt of 32 bytes. Required if the `approval` of the computation is `all_signed`.',
      ),
    ),
  }),
  v.forward(
    v.partialCheck(
      [['max_runs'], ['approval_id']],
      ({ max_runs, approval_id }) => (max_runs == null) === (approval_id == null),
      'Expected a UUID with `max_runs`, and none without it.',
    ),
    ['approval_id'],
  ),
);
export type ApprovalInput = v.InferOutput<typeof approvalInput>;

const refusalInput = namedInput('RefusalInput', 'A refusal to approve.', {
  decision: described(v.literal('refuse'), 'Says that you refuse.'),
  reason: refusalReason,
});
export type RefusalInput = v.InferOutput<typeof refusalInput>;

export const decisionInput = v.pipe(
  v.variant('decision', [refusalInput, approvalInput], 'Expected "refuse", or no decision for an approval.'),
  v.title('DecisionInput'),
  v.description('An approval to give, or a refusal.'),
);

export const approvalSchema = namedObject('Approval', 'The approval of a manifest by a user.', {
  user: shownText(255, 'The user who approved.'),
  digest,
  configuration_digest: configurationDigest,
  cvm_ids: orNull(v.pipe(v.array(cvmId), v.metadata({ maxItems: mostCvms })), 'The CVMs that a run may use. null: any.'),
  expires_at: orNull(shownText(35), 'The time before which a run must start, as the user sent it. null: any time.'),
  max_runs: maxRuns,
  used_runs: orNull(
    v.number(),
    'The number of runs that have started on the approval, without those that no CVM accepted. null without `max_runs`.',
  ),
  approval_id: approvalId,
  journal_head: orNull(journalHead, seen),
  signed: described(v.boolean(), 'Whether the user signed the approval.'),
  stale: described(
    v.boolean(),
    '`true` if the approval does not count, for one of these reasons: the manifest or the configuration has changed, the approval ' +
      'has expired, as many runs have started as it allows, it was signed with a key that the user has replaced, it is unsigned and the computation requires signatures, or ' +
      'all CVMs that it allows have other certificates.',
  ),
  stale_because: orNull(
    v.pipe(v.array(approvalChange), v.metadata({ maxItems: mostChanges })),
    `Up to ${mostChanges} reasons why the approval does not count. null if \`stale\` is \`false\`.`,
  ),
  approved_at: described(timestamp, 'The time of the approval.'),
});
export type Approval = v.InferOutput<typeof approvalSchema>;

export const refusalSchema = namedObject('Refusal', 'The refusal of a user to approve.', {
  user: shownText(255, 'The user who refused.'),
  reason: shownText(longestRefusal, 'Why, in the words of the user.'),
  refused_at: described(timestamp, 'The time of the refusal.'),
});
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
export function describeApproval(stored: StoredApproval, used: UsedRuns, because: StaleReason[]): Approval {
  const { user_id, certificates: _, key: __, signature, approved_at, ...given } = stored;
  const stale = because.length > 0;
  return {
    user: user_id,
    ...given,
    used_runs: usedRunsOf(stored, used),
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
