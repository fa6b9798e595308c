import * as v from 'valibot';
import { coveredReview } from 'computation-management-formats/consent';
import { described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import { attestationPolicy } from 'computation-management-formats/attestation';
import { approvalLevels, logAccesses } from 'computation-management-formats/vocabulary';
import { assetUses } from './asset.ts';
import { itemOfRun, type KeyOfRun, shownKey } from './asset-key.ts';
import { agentConfigEntries, type StoredAgentConfig, withoutServerKey } from './agent-config.ts';
import { sealedKeyAttributes, storedKeyOf } from './sealed-key.ts';
import { assetsPerComputation } from './computation.ts';
import type { OfRun } from './run.ts';
import { runKeys, type Key } from '../table/keys.ts';
import { type Table, getItem, type Item, queryPrefix } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import { manifestSchema } from './manifest.ts';
import { journalHead, mostCvms } from './stored-approval.ts';
import { parseStored, schemaAttribute } from '../table/stored.ts';

const assetOfRun = namedObject('AssetOfRun', 'An asset as it was when the run started.', {
  id: v.pipe(shownText(36), v.description('The identifier of the asset.'), v.metadata({ format: 'uuid' })),
  creator: shownText(255, 'The creator of the asset.'),
  use: described(v.picklist(assetUses), 'The `use` of the asset when the run started.'),
  checksum: shownText(64, 'The SHA3-256 in hex, as in the manifest.'),
  key: orNull(
    namedObject('KeyOfAsset', 'The key of an asset as it was when the run started.', shownKey),
    'The key of the asset, which is released to the CVM alone. null without one.',
  ),
});

const approvalOfRun = namedObject('ApprovalOfRun', 'An approval that counted when the run started.', {
  user: shownText(255, 'The user who approved.'),
  digest: shownText(64, 'The digest of the manifest that the user approved.'),
  configuration_digest: shownText(64, 'The digest of the configuration that the user approved.'),
  cvm_ids: orNull(
    v.pipe(v.array(shownText(64)), v.metadata({ maxItems: mostCvms })),
    'The CVMs that a run could use. null: any.',
  ),
  expires_at: orNull(shownText(35), 'The time before which a run had to start, as the user sent it. null: any time.'),
  signature: orNull(shownText(4_096), 'The signature of the user in base64. null if the user did not sign.'),
  key: orNull(
    shownText(16 * 1024),
    'The public key that verifies the signature, as DER SubjectPublicKeyInfo, base64. null if the user did not sign.',
  ),
  max_runs: orNull(v.number(), 'The number of runs that could start on the approval. null: any.'),
  use: orNull(v.number(), 'Which of these runs this one is, from 1. null without `max_runs`.'),
  approval_id: orNull(shownText(36), 'The identifier of the counter of these runs. null without `max_runs`.'),
  journal_head: orNull(
    journalHead,
    "The newest event of the computation's journal that the user saw. null if the user named none.",
  ),
  approved_at: v.pipe(shownText(24), v.description('The time of the approval.'), v.metadata({ format: 'date-time' })),
});
export type ApprovalOfRun = v.InferOutput<typeof approvalOfRun>;

/** Schema of the snapshot of a run: what the run was started with. The agent's private key is stored apart. */
export const storedSnapshot = v.object({
  /** The owner of the computation when the run started. A later owner may not read the log of the run. */
  owner: v.string(),
  manifest: manifestSchema,
  agent_config: v.object(agentConfigEntries),
  manifest_digest: v.string(),
  configuration_digest: v.string(),
  /** The assets that the run uses: the algorithm, then the datasets in the order of the manifest. */
  assets: v.pipe(v.array(assetOfRun), v.metadata({ maxItems: assetsPerComputation })),
  /** The approvals of the run that counted when it started, sorted by user. */
  approvals: v.array(approvalOfRun),
  approval: v.picklist(approvalLevels),
  log_access: v.picklist(logAccesses),
  /** The review of the result, with the users who get a released one. Null: the agent gives the result to its consumers. */
  result_review: v.nullable(coveredReview),
  /** The certificate of the CVM in PEM. Null if the CVM was registered without one, or not at all. */
  certificate: v.nullable(v.string()),
  /**
   * True if creators of assets may read the log of the run when parties may: only if nobody could link an asset just to read the
   * log.
   */
  shows_creators_logs: v.boolean(),
  /** The attestation policy that says which CVMs the run may use. Null: any CVM. */
  attestation_policy: v.nullable(attestationPolicy),
  /** The users who get the result of the run: in the order of the manifest, or, with a review, sorted. */
  result_consumers: v.array(shownText(255)),
});
/** The snapshot of a run: the copy of what it was started with, such as its manifest, configuration, assets and approvals. */
export type RunSnapshot = Omit<v.InferOutput<typeof storedSnapshot>, 'agent_config'> & { agent_config: StoredAgentConfig };

/**
 * Returns the approvals of a run that its start needed: of the creators of the assets that demand one, and under `all` and `all_signed` of all
 * creators, result consumers and reviewers.
 */
export function neededApprovalsOf(snapshot: RunSnapshot): ApprovalOfRun[] {
  const { approval, assets, approvals, owner, result_consumers, result_review } = snapshot;
  const isAll = approval !== 'none';
  const creators = assets.filter(({ use }) => isAll || use === 'approval').map(({ creator }) => creator);
  const needed = new Set([...creators, ...(isAll ? [owner, ...result_consumers, ...(result_review?.reviewers ?? [])] : [])]);
  return approvals.filter(({ user }) => needed.has(user));
}

/**
 * Adds the snapshot of a run to the transaction. The private key and the keys of assets are separate items, because they are deleted when the
 * run ends.
 */
export function addSnapshot(
  transaction: Transaction,
  { computation_id, run_id }: OfRun,
  { agent_config, ...rest }: RunSnapshot,
  keys: KeyOfRun[],
): void {
  transaction.add(...keys.map((key) => ({ put: { Item: itemOfRun({ computation_id, run_id }, key) } })));
  const { server_key } = agent_config;
  const Item = {
    ...runKeys.snapshot(computation_id, run_id),
    ...schemaAttribute,
    run_id,
    ...rest,
    agent_config: withoutServerKey(agent_config),
  };
  transaction.add({ put: { Item } });
  if (server_key === '') return;
  transaction.add({ put: { Item: { ...runKeys.serverKey(computation_id, run_id), ...sealedKeyAttributes(server_key) } } });
}

/** Adds the deletion of the keys that a run kept of its assets to the transaction that ends it. One round trip. */
export async function removeKeysOfAssets(
  table: Table,
  transaction: Transaction,
  { computation_id, run_id }: OfRun,
): Promise<void> {
  const prefix = runKeys.prefixes.assetKeys(run_id);
  const items = await queryPrefix(table, runKeys.partition(computation_id), prefix, { attributes: ['asset'] });
  const assets = items.map(({ asset }) => String(asset));
  transaction.add(...assets.map((asset) => ({ delete: { Key: runKeys.assetKey(computation_id, run_id, asset) } })));
}

/** Adds the deletion of the agent's private key to the transaction that ends a run. */
export function removeServerKey(transaction: Transaction, { computation_id, run_id }: OfRun): void {
  transaction.add({ delete: { Key: runKeys.serverKey(computation_id, run_id) } });
}

/**
 * Returns the keys of the items that hold what a run was started with: the snapshot and the agent's private key, in the order
 * that `parseSnapshot` takes.
 */
export function snapshotKeys({ computation_id, run_id }: OfRun): [Key, Key] {
  return [runKeys.snapshot(computation_id, run_id), runKeys.serverKey(computation_id, run_id)];
}

/**
 * Parses the snapshot of a run and the agent's private key.
 * @throws Error if an item is invalid or the snapshot is missing
 */
export function parseSnapshot([snapshot, serverKey]: (Item | undefined)[]): RunSnapshot {
  const { agent_config, ...rest } = parseStored(storedSnapshot, snapshot, 'snapshot of a run');
  return { ...rest, agent_config: { ...agent_config, server_key: storedKeyOf(serverKey) } };
}

/**
 * Returns the identifiers of the assets that a run uses.
 * @param item the item at `runKeys.snapshot`
 */
export function assetsOfRun(item: Item | undefined): string[] {
  return parseSnapshot([item]).assets.map(({ id }) => id);
}

/** Reads the creators of the assets that a run uses. Returns none if the run was deleted meanwhile. */
export async function readCreators(table: Table, { computation_id, run_id }: OfRun): Promise<string[]> {
  const item = await getItem(table, runKeys.snapshot(computation_id, run_id));
  return item ? parseSnapshot([item]).assets.map(({ creator }) => creator) : [];
}

/** Reads whether a run uses an asset. Returns true if the run was deleted meanwhile. */
export async function usesAsset(table: Table, { computation_id, run_id }: OfRun, assetId: string): Promise<boolean> {
  const item = await getItem(table, runKeys.snapshot(computation_id, run_id));
  return item === undefined || assetsOfRun(item).includes(assetId);
}
