import type { AttestationPolicy } from './attestation.ts';
import { canonicalJson } from './digests.ts';
import type { ApprovalLevel, LogAccess } from './vocabulary.ts';

/** The members of the agent's configuration that an approval of a computation covers. */
interface CoveredConfig {
  cert_file: string;
  server_ca_file: string;
  client_ca_file: string;
  attested_tls: boolean;
}

export interface Configuration {
  agent_config: CoveredConfig;
  approval: ApprovalLevel;
  attestation_policy: AttestationPolicy | null;
  log_access: LogAccess;
}

interface Configured extends Pick<Configuration, 'approval' | 'attestation_policy' | 'log_access'> {
  agent_config: Partial<CoveredConfig>;
}

/**
 * Returns the configuration of a computation that an approval covers, with defaults for members of the agent's configuration that
 * are missing.
 */
export function configurationOf({ agent_config: config, approval, attestation_policy, log_access }: Configured): Configuration {
  const { cert_file = '', server_ca_file = '', client_ca_file = '', attested_tls = false } = config;
  const agent_config = { cert_file, server_ca_file, client_ca_file, attested_tls };
  return { agent_config, approval, attestation_policy, log_access };
}

export interface Limits {
  cvm_ids?: string[];
  expires_at?: string;
}

/** Returns the limits of an approval (the CVMs that it is for, and the time when it expires), without those that are null. */
export function limitsOf({ cvm_ids, expires_at }: { [name in keyof Limits]?: Limits[name] | null | undefined }): Limits {
  return { ...(cvm_ids && { cvm_ids }), ...(expires_at && { expires_at }) };
}

export interface Approved extends Limits {
  domain: string;
  computation: string;
  approver: string;
  manifest_digest: string;
  configuration_digest: string;
}

/** Returns the text that a user signs to approve a computation (docs/contract.md, section 9). */
export function approvalText(approved: Approved): string {
  const { domain, computation, approver, manifest_digest, configuration_digest } = approved;
  return canonicalJson({
    type: 'computation-approval',
    domain,
    computation: computation.toLowerCase(),
    approver,
    manifest_digest,
    configuration_digest,
    ...limitsOf(approved),
  });
}
