import { shownText } from 'computation-management-formats/fields';
import { approvalLevels } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { assetUses } from '../assets/asset.ts';
import { agentConfigEntries, type StoredAgentConfig } from '../computations/agent-config.ts';
import { assetsPerComputation } from '../computations/computation.ts';
import { manifestSchema } from './manifest.ts';
import { mostCvms } from './stored-approval.ts';

/** An asset that a run uses, as it was when the run started. */
const assetOfRun = v.pipe(
  v.object({
    id: v.pipe(shownText(36), v.description('The identifier of the asset.'), v.metadata({ format: 'uuid' })),
    creator: v.pipe(shownText(255), v.description('The creator of the asset.')),
    use: v.pipe(v.picklist(assetUses), v.description('The `use` of the asset when the run started.')),
    checksum: v.pipe(shownText(64), v.description('The SHA3-256 in hex, as in the manifest.')),
  }),
  v.title('AssetOfRun'),
  v.description('An asset as it was when the run started.'),
);

/** An approval that counted when the run started. */
const approvalOfRun = v.pipe(
  v.object({
    user: v.pipe(shownText(255), v.description('The user who approved.')),
    digest: v.pipe(shownText(64), v.description('The digest of the manifest that the user approved.')),
    cvm_ids: v.pipe(
      v.nullable(v.pipe(v.array(shownText(64)), v.metadata({ maxItems: mostCvms }))),
      v.description('The CVMs that a run could use. null or empty: any.'),
    ),
    expires_at: v.pipe(
      v.nullable(shownText(35)),
      v.description('The time before which a run had to start, as the user sent it. null: any time.'),
    ),
    signature: v.pipe(
      v.nullable(shownText(4_096)),
      v.description('The signature of the user in base64. null if the user did not sign.'),
    ),
    key: v.pipe(
      v.nullable(shownText(16 * 1024)),
      v.description(
        'The public key that verifies the signature, as DER SubjectPublicKeyInfo, base64. null if the user did not sign.',
      ),
    ),
    approved_at: v.pipe(shownText(24), v.description('The time of the approval.'), v.metadata({ format: 'date-time' })),
  }),
  v.title('ApprovalOfRun'),
  v.description('An approval that counted when the run started.'),
);
export type ApprovalOfRun = v.InferOutput<typeof approvalOfRun>;

/**
 * What a run was started with, without the agent's private key, which is stored apart. Later changes of the computation do not affect
 * it.
 */
export const storedSnapshot = v.object({
  manifest: manifestSchema,
  agent_config: v.object(agentConfigEntries),
  /** SHA3-256 of the manifest's canonical JSON, 64 hex digits. */
  manifest_digest: v.string(),
  /** The algorithm, then the datasets in the order of the manifest. */
  assets: v.pipe(v.array(assetOfRun), v.metadata({ maxItems: assetsPerComputation })),
  /** Sorted by user. */
  approvals: v.array(approvalOfRun),
  /** Whose approval the computation took. */
  approval: v.picklist(approvalLevels),
  /** The users whose keys are the result consumers of the manifest, in its order. */
  result_consumers: v.array(shownText(255)),
});
export type RunSnapshot = Omit<v.InferOutput<typeof storedSnapshot>, 'agent_config'> & { agent_config: StoredAgentConfig };
