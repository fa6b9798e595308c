import * as v from 'valibot';
import { canonicalDigest } from '../canonical-json.ts';
import { assetUses } from '../assets/asset.ts';
import { agentConfigForCvm, type StoredAgentConfig } from '../computations/agent-config.ts';
import { approvalLevels } from '../computations/computation.ts';
import { shownText } from '../text.ts';
import { manifestSchema } from './manifest.ts';

/** An asset that a run uses, as it was when the run started. */
const assetOfRun = v.pipe(
  v.object({
    id: shownText(36),
    /** The user who created it. */
    creator: shownText(255),
    use: v.picklist(assetUses),
    /** SHA3-256, hex, as in the manifest. */
    checksum: shownText(64),
  }),
  v.title('AssetOfRun'),
);

/** An approval that counted when the run started. */
const approvalOfRun = v.pipe(
  v.object({
    user: shownText(255),
    /** The digest of the manifest that the user approved. */
    digest: shownText(64),
    /** The CVMs that the approval is limited to. null: any. */
    cvm_ids: v.nullable(v.array(shownText(64))),
    /** null: never. */
    expires_at: v.nullable(shownText(35)),
    /** Base64. null if the user did not sign. */
    signature: v.nullable(shownText(4_096)),
    /** Base64 of the DER SubjectPublicKeyInfo that the signature was verified with. null if the user did not sign. */
    key: v.nullable(shownText(16 * 1024)),
    approved_at: shownText(24),
  }),
  v.title('ApprovalOfRun'),
);
export type ApprovalOfRun = v.InferOutput<typeof approvalOfRun>;

/**
 * What a run was started with, without the agent's private key. Later changes of the computation do not affect it. Runs of
 * earlier versions have the manifest and the configuration alone.
 */
export const runSnapshot = v.object({
  manifest: manifestSchema,
  agent_config: v.object(agentConfigForCvm.entries),
  /** SHA3-256 of the manifest's canonical JSON, 64 hex digits. */
  manifest_digest: v.optional(v.string()),
  /** The algorithm, then the datasets in the order of the manifest. */
  assets: v.optional(v.array(assetOfRun)),
  /** Sorted by user. */
  approvals: v.optional(v.array(approvalOfRun)),
  /** Whose approval the computation took. */
  approval: v.optional(v.picklist(approvalLevels)),
  /** The users whose keys are the result consumers of the manifest, in its order. */
  result_consumers: v.optional(v.array(shownText(255))),
});
export type RunSnapshot = Omit<v.InferOutput<typeof runSnapshot>, 'agent_config'> & { agent_config: StoredAgentConfig };

/**
 * What a statement about a run says of its start (docs/contract.md, section 10). A field that is added inside must be absent for
 * earlier runs.
 */
interface StatedStart {
  manifest: object;
  /** Without the private key. */
  agent_config: object;
  assets: unknown;
  approvals: unknown;
  approval?: unknown;
  result_consumers?: unknown;
}

/** Returns the digest by which the event `started` commits to what its run was started with. */
export function startDigest({ manifest, agent_config, assets, approvals, approval, result_consumers }: StatedStart): string {
  return canonicalDigest({ manifest, agent_config, assets, approvals, approval, result_consumers });
}

/** What this version keeps with a run. */
export type NewSnapshot = { [name in keyof RunSnapshot]-?: Exclude<RunSnapshot[name], undefined> };
