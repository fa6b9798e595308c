import type { AttestationPolicy } from './attestation.ts';
import { canonicalJson } from './digests.ts';
import { type CoveredReview, coveredReviewOf, type ResultReview } from './result-review.ts';
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
  /** The review of results before their release. Null: results go to their consumers without a review. */
  result_review: CoveredReview | null;
}

interface Configured extends Omit<Configuration, 'agent_config'> {
  agent_config: Partial<CoveredConfig>;
}

/**
 * Returns the configuration of a computation that an approval covers, with defaults for members of the agent's configuration that
 * are missing.
 */
export function configurationOf(configured: Configured): Configuration {
  const { agent_config: config, approval, attestation_policy, log_access, result_review } = configured;
  const { cert_file = '', server_ca_file = '', client_ca_file = '', attested_tls = false } = config;
  const agent_config = { cert_file, server_ca_file, client_ca_file, attested_tls };
  return { agent_config, approval, attestation_policy, log_access, result_review };
}

/** A computation as the API returns it, by the members that its configuration is made of. */
interface ShownComputation extends Omit<Configured, 'result_review'> {
  owner: string;
  consumers: readonly string[];
  result_review: ResultReview | null;
}

/** Returns the configuration that an approval covers of a computation as the API returns it. */
export function configurationOfComputation(computation: ShownComputation): Configuration {
  return configurationOf({ ...computation, result_review: coveredReviewOf(computation.result_review, computation) });
}

/** An event of the journal, by its identifier and its hash: the newest that an approver saw. */
export interface JournalHead {
  id: string;
  hash: string;
}

export interface Limits {
  cvm_ids?: string[];
  expires_at?: string;
  /** The number of runs that may start on an approval. */
  max_runs?: number;
  /** The identifier of the counter of these runs, a UUID. */
  approval_id?: string;
  journal_head?: JournalHead;
}

const limits = ['cvm_ids', 'expires_at', 'max_runs', 'approval_id', 'journal_head'] as const;

/**
 * Returns what limits an approval and is signed with it: its CVMs, its expiry, its number of runs, and the journal that the
 * approver saw. Leaves out what is null.
 */
export function limitsOf<Given extends { [name in keyof Limits]?: Limits[name] | null | undefined }>(
  approval: Given,
): Pick<Limits, keyof Given & keyof Limits> {
  return Object.fromEntries(limits.flatMap((name) => (approval[name] == null ? [] : [[name, approval[name]]]))) as Pick<
    Limits,
    keyof Given & keyof Limits
  >;
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
