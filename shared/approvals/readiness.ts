import { plainName } from 'computation-management-formats/quoted-name';
import { timeOf } from 'computation-management-formats/timestamps';
import { withoutServerKey } from '../rows/agent-config.ts';
import { assetsPerComputation } from '../rows/computation.ts';
import { approvableOf, assetsOf, type Inputs, type MissingItems, resultConsumers } from '../rows/manifest.ts';
import type { ApprovalOfRun, RunSnapshot } from '../rows/run-snapshot.ts';
import type { StoredApproval } from '../rows/stored-approval.ts';
import { type ApprovalChange, change } from './stale-because.ts';

export interface NeededApproval {
  user: string;
  /** The names of the user's assets. */
  files: string[];
  asConsumer: boolean;
}

/** docs/contract.md, section 9. */
export function neededApprovals(inputs: Inputs): NeededApproval[] {
  const isAll = inputs.computation.approval !== 'none';
  const assets = assetsOf(inputs).filter(({ use }) => isAll || use === 'approval');
  const consumers = isAll ? consumersOf(inputs) : new Set<string>();
  const users = new Set([...assets.map(({ created_by }) => created_by), ...consumers]);
  return [...users].map((user) => ({
    user,
    files: assets.filter(({ created_by }) => created_by === user).map(({ file_name }) => file_name),
    asConsumer: consumers.has(user),
  }));
}

/** The owner is one even before uploading a key. */
function consumersOf(inputs: Inputs): Set<string> {
  return new Set([inputs.computation.owner, ...resultConsumers(inputs).map(({ user_id }) => user_id)]);
}

const consumer = 'result consumer';
/** All assets, and `result consumer`. */
export const mostReasons = assetsPerComputation + 1;

/** A file with the name `result consumer` is in quotes. */
export function becauseOf({ files, asConsumer }: NeededApproval): string[] {
  return [...files.map((file) => (file === consumer ? `"${file}"` : file)), ...(asConsumer ? [consumer] : [])];
}

function sentencesOf(missing: NeededApproval[], inputs: Inputs, context: ApprovalContext): string[] {
  return missing.flatMap(({ user, files, asConsumer }) => {
    const elsewhere = inputs.approvals.find((given) => given.user_id === user && !isStale(given, inputs, context));
    const approval = `Approval of ${plainName(user)}`;
    if (elsewhere) return [`${approval}, ${limitIn(elsewhere, context)}`];
    return [...files.map((file) => `${approval} for ${plainName(file)}`), ...(asConsumer ? [`${approval} as ${consumer}`] : [])];
  });
}

function limitIn({ cvm_ids }: StoredApproval, { cvm }: ApprovalContext): string {
  const ids = cvm_ids ?? [];
  if (cvm && ids.includes(cvm.id)) return `which allows the CVM ${cvm.id} only with another certificate`;
  return `which allows only the ${ids.length === 1 ? 'CVM' : 'CVMs'} ${[ids.slice(0, -1).join(', '), ...ids.slice(-1)].filter(Boolean).join(' and ')}`;
}

export interface ApprovalContext {
  /** Undefined while there is none. */
  digest: string | undefined;
  configuration_digest: string;
  at: string;
  /** Undefined: the run may be on any. */
  cvm?: CvmOfRun | undefined;
}

export interface CvmOfRun {
  id: string;
  /** Undefined without one, or if the CVM is not registered. */
  certificate: string | undefined;
}

/** On any CVM. */
export function isStale(
  approval: StoredApproval,
  inputs: Inputs,
  { digest, configuration_digest, at }: ApprovalContext,
): boolean {
  if (approval.digest !== digest || approval.configuration_digest !== configuration_digest) return true;
  return ownReasons(approval, inputs, at).length > 0;
}

/** Whatever the manifest and the configuration are. */
export function ownReasons(
  { user_id, expires_at, signature, key }: StoredApproval,
  { computation, keys }: Inputs,
  at: string,
): ApprovalChange[] {
  const uploaded = keys.find((each) => each.user_id === user_id)?.user_key ?? null;
  return [
    ...(signature === null && computation.approval === 'all_signed' ? [change('/signature', null, 'required')] : []),
    ...(key !== null && uploaded !== key ? [change('/signature', key, uploaded)] : []),
    ...(expires_at !== null && !(timeOf(expires_at) > timeOf(at)) ? [change('/expires_at', expires_at, at)] : []),
  ];
}

function allows({ cvm_ids, certificates }: StoredApproval, cvm: CvmOfRun | undefined): boolean {
  if (!cvm || cvm_ids === null) return true;
  return cvm_ids.includes(cvm.id) && (!Object.hasOwn(certificates, cvm.id) || certificates[cvm.id] === cvm.certificate);
}

function validApprovals(inputs: Inputs, context: ApprovalContext): StoredApproval[] {
  return inputs.approvals.filter((approval) => allows(approval, context.cvm) && !isStale(approval, inputs, context));
}

export function missingApprovals(inputs: Inputs, context: ApprovalContext): NeededApproval[] {
  const users = new Set(validApprovals(inputs, context).map(({ user_id }) => user_id));
  return neededApprovals(inputs).filter(({ user }) => !users.has(user));
}

/** Below the 400 KB of a DynamoDB item. */
const snapshotLimitInBytes = 380 * 1024;

export interface Readiness {
  /** Undefined while something of the manifest is missing. Missing approvals do not matter. */
  snapshot: RunSnapshot | undefined;
  configuration_digest: string;
  /** Empty lists if the computation is ready to run. */
  missing: MissingItems;
}

export function readinessOf(inputs: Inputs, { at, cvm }: Pick<ApprovalContext, 'at' | 'cvm'>): Readiness {
  const { manifest, digest, missing, configuration_digest } = approvableOf(inputs);
  const context = { digest, configuration_digest, at, cvm };
  const info = sentencesOf(missingApprovals(inputs, context), inputs, context);
  if (missing) return { snapshot: undefined, configuration_digest, missing: { ...missing, info: [...missing.info, ...info] } };

  const approvals = validApprovals(inputs, context);
  const snapshot: RunSnapshot = {
    manifest,
    agent_config: inputs.agent_config,
    manifest_digest: digest,
    configuration_digest,
    assets: assetsOf(inputs).map(({ id, created_by, use, checksum }) => ({
      id,
      creator: created_by,
      use,
      checksum: checksum ?? '',
    })),
    approvals: approvals.map(ofRun).sort((a, b) => (a.user < b.user ? -1 : 1)),
    approval: inputs.computation.approval,
    log_access: inputs.computation.log_access,
    shows_creators_logs: inputs.computation.approval !== 'none' || inputs.providers.length > 0,
    attestation_policy: inputs.attestation_policy,
    result_consumers: resultConsumers(inputs).map(({ user_id }) => user_id),
  };
  const kept = { ...snapshot, agent_config: withoutServerKey(inputs.agent_config) };
  const size = Buffer.byteLength(JSON.stringify(kept));
  const tooLarge = `The record of the run would have ${size} bytes, but the limit is ${snapshotLimitInBytes}: use fewer parties or shorter keys`;
  return {
    snapshot,
    configuration_digest,
    missing: { keys: [], hashes: [], info: size <= snapshotLimitInBytes ? info : [...info, tooLarge] },
  };
}

function ofRun({ user_id, certificates: _, ...approval }: StoredApproval): ApprovalOfRun {
  return { user: user_id, ...approval };
}

export function isIncomplete({ keys, hashes, info }: MissingItems): boolean {
  return keys.length + hashes.length + info.length > 0;
}
