import { canonicalDigest } from '../canonical-json.ts';
import type { StoredAgentConfig } from '../computations/agent-config.ts';
import type { StoredApproval } from '../manifest/stored-approval.ts';
import type { Inputs } from '../manifest/build-manifest.ts';
import { timeOf } from '../timestamp.ts';
import { neededApprovals, type NeededApproval } from './needed-approvals.ts';

/** The run for which an approval must be valid. */
export interface ApprovalContext {
  /** The digest of the manifest. Undefined while there is none. */
  digest: string | undefined;
  /** RFC 3339, UTC, milliseconds. */
  at: string;
  /** The CVM of the run. Undefined: the run may be on any. */
  cvmId?: string | undefined;
}

/** Returns the digest of what an approval covers of the agent's configuration: all but its log level and its private key. */
export function configDigest({
  log_level: _level,
  server_key: _key,
  ...covered
}: Partial<Record<keyof StoredAgentConfig, unknown>>): string {
  return canonicalDigest(covered);
}

/**
 * Returns whether an approval is invalid for a run on any CVM: the manifest or the configuration has changed, it has expired, it is
 * unsigned and the computation requires signatures, or the user has replaced the key that signed it.
 */
export function isStale(
  approval: StoredApproval,
  { computation, agent_config, keys }: Inputs,
  { digest, at }: ApprovalContext,
): boolean {
  const { user_id, expires_at, signature, key } = approval;
  if (signature === null && computation.approval === 'all_signed') return true;
  if (approval.digest !== digest || approval.config_digest !== configDigest(agent_config)) return true;
  if (expires_at !== null && !(timeOf(expires_at) > timeOf(at))) return true;
  return key !== null && keys.find((uploaded) => uploaded.user_id === user_id)?.user_key !== key;
}

/** Returns the approvals that are valid for a run. */
export function validApprovals(inputs: Inputs, context: ApprovalContext): StoredApproval[] {
  const isFor = ({ cvm_ids }: StoredApproval) =>
    context.cvmId === undefined || cvm_ids === null || cvm_ids.length === 0 || cvm_ids.includes(context.cvmId);
  return inputs.approvals.filter((approval) => isFor(approval) && !isStale(approval, inputs, context));
}

/** Returns the approvals that a run needs and that are missing. */
export function missingApprovals(inputs: Inputs, context: ApprovalContext): NeededApproval[] {
  const users = new Set(validApprovals(inputs, context).map(({ user_id }) => user_id));
  return neededApprovals(inputs).filter(({ user }) => !users.has(user));
}
