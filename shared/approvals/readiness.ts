import { canonicalDigest } from '../canonical-json.ts';
import { withoutServerKey } from '../computations/agent-config.ts';
import { readComputation } from '../computations/read-computation.ts';
import { assetsOf, buildManifest, type Inputs, type Manifest, type MissingItems, resultConsumers } from '../manifest/manifest.ts';
import { readInputs } from '../manifest/read-manifest.ts';
import type { ApprovalOfRun, NewSnapshot } from '../manifest/run-snapshot.ts';
import type { StoredApproval } from '../manifest/stored-approval.ts';
import type { Table } from '../table/table.ts';
import { type ApprovalContext, missingApprovals, sentencesOf, validApprovals } from './missing-approvals.ts';

/** Below the 400 KB of a DynamoDB item. */
const snapshotLimitInBytes = 380 * 1024;

/** What a run would start with, and what is missing before it. */
export interface Readiness {
  /** Undefined while something of the manifest is missing. Missing approvals do not matter. */
  snapshot: NewSnapshot | undefined;
  /** Empty lists if the computation is ready to run. */
  missing: MissingItems;
}

/** Returns the manifest's digest, or what is missing of the manifest. */
export function digestedManifestOf(
  inputs: Inputs,
): { manifest: Manifest; digest: string; missing?: never } | { missing: MissingItems; manifest?: never; digest?: never } {
  const { manifest, missing } = buildManifest(inputs);
  return manifest ? { manifest, digest: canonicalDigest(manifest) } : { missing };
}

export function readinessOf(inputs: Inputs, { at, cvmId }: Omit<ApprovalContext, 'digest'>): Readiness {
  const { manifest, digest, missing } = digestedManifestOf(inputs);
  const info = sentencesOf(missingApprovals(inputs, { digest, at, cvmId }));
  if (missing) return { snapshot: undefined, missing: { ...missing, info: [...missing.info, ...info] } };

  const approvals = validApprovals(inputs, { digest, at, cvmId });
  const snapshot: NewSnapshot = {
    manifest,
    agent_config: inputs.agent_config,
    manifest_digest: digest,
    assets: assetsOf(inputs).map(({ id, created_by, use, checksum }) => ({
      id,
      creator: created_by,
      use,
      checksum: checksum ?? '',
    })),
    approvals: approvals.map(ofRun).sort((a, b) => (a.user < b.user ? -1 : 1)),
    approval: inputs.computation.approval,
    result_consumers: resultConsumers(inputs).map(({ user_id }) => user_id),
  };
  const kept = { ...snapshot, agent_config: withoutServerKey(inputs.agent_config) };
  const size = Buffer.byteLength(JSON.stringify(kept));
  const tooLarge = `The record of the run would have ${size} bytes, but the limit is ${snapshotLimitInBytes}: use fewer parties or shorter keys`;
  return { snapshot, missing: { keys: [], hashes: [], info: size <= snapshotLimitInBytes ? info : [...info, tooLarge] } };
}

function ofRun({ user_id, digest, cvm_ids, expires_at, signature, key, approved_at }: StoredApproval): ApprovalOfRun {
  return { user: user_id, digest, cvm_ids, expires_at, signature, key, approved_at };
}

/** Returns whether something is missing before a run. */
export function isIncomplete({ keys, hashes, info }: MissingItems): boolean {
  return keys.length + hashes.length + info.length > 0;
}

/**
 * Reads what is missing before a run on any CVM, and the digest of the manifest if there is one. Three round trips.
 * @param at RFC 3339, UTC, milliseconds
 * @throws ServiceError `not_found`
 */
export async function readReadiness(
  table: Table,
  domain: string,
  id: string,
  at: string,
): Promise<{ missing: MissingItems; digest: string | undefined }> {
  const inputs = await readInputs(table, domain, await readComputation(table, domain, id));
  const { snapshot, missing } = readinessOf(inputs, { at });
  return { missing, digest: snapshot?.manifest_digest };
}
