import { base64Text, shownText, strictObject, text } from 'computation-management-formats/fields';
import { cvmId } from 'computation-management-formats/identifiers';
import { givenTimestamp, timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { mostCvms, type StoredApproval } from '../manifest/stored-approval.ts';

const ofDigest = 'The digest of the manifest: the SHA3-256, lower-case hex, of its canonical JSON (RFC 8785).';
const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/), v.description(ofDigest), v.metadata({ maxLength: 64 }));

/** Any text: one that is not the digest of the manifest gets 409, not 400. */
const givenDigest = v.pipe(text(1, 200), v.description(ofDigest));

const longestSignature = 4_096;

export const approvalInput = v.pipe(
  strictObject({
    digest: givenDigest,
    cvm_ids: v.optional(
      v.pipe(
        v.nullable(v.pipe(v.array(cvmId), v.maxLength(mostCvms, `Expected up to ${mostCvms} CVMs.`))),
        v.description('The CVMs that a run may use. Default: any.'),
      ),
    ),
    expires_at: v.optional(
      v.pipe(v.nullable(givenTimestamp), v.description('The time before which a run must start. Default: any time.')),
    ),
    signature: v.optional(
      v.pipe(
        v.nullable(v.pipe(base64Text, v.maxLength(longestSignature, `Expected up to ${longestSignature} characters.`))),
        v.description(
          'A signature in base64, made with the private key of the public key that you uploaded to the computation. Sign the text ' +
            '`computation-approval:v1:<domainID>:<computationID>:<digest>`. If `cvm_ids` or `expires_at` is given, append ' +
            '`:<limits>`: the SHA3-256, in hex, of the canonical JSON (RFC 8785) of an object that contains the given fields ' +
            'exactly as you send them. `null` counts as not given. Algorithms: Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes.',
        ),
      ),
    ),
  }),
  v.title('ApprovalInput'),
  v.description('An approval to give.'),
);
export type ApprovalInput = v.InferOutput<typeof approvalInput>;

export const approvalSchema = v.pipe(
  v.object({
    user: v.pipe(shownText(255), v.description('The user who approved.')),
    digest,
    cvm_ids: v.pipe(
      v.nullable(v.pipe(v.array(cvmId), v.metadata({ maxItems: mostCvms }))),
      v.description('The CVMs that a run may use. null or empty: any.'),
    ),
    expires_at: v.pipe(
      v.nullable(shownText(35)),
      v.description('The time before which a run must start, as the user sent it. null: any time.'),
    ),
    signed: v.pipe(v.boolean(), v.description('Whether the user signed the approval.')),
    stale: v.pipe(
      v.boolean(),
      v.description(
        '`true` if the approval does not count, for one of these reasons: the manifest or the configuration has changed, the approval ' +
          'has expired, it was signed with a key that the user has replaced, or it is unsigned and the computation requires signatures.',
      ),
    ),
    approved_at: v.pipe(timestamp, v.description('The time of the approval.')),
  }),
  v.title('Approval'),
  v.description('The approval of a manifest by a user.'),
);
export type Approval = v.InferOutput<typeof approvalSchema>;

export function describeApproval(stored: StoredApproval, stale: boolean): Approval {
  const { user_id, digest, cvm_ids, expires_at, signature, approved_at } = stored;
  return { user: user_id, digest, cvm_ids, expires_at, signed: signature !== null, stale, approved_at };
}
