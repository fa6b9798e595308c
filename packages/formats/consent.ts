import * as v from 'valibot';
import { canonicalJson } from './digests.ts';
import { namedInput, described, namedObject, shownText, text, userId, withoutPrivateKey } from './fields.ts';
import { mostConsumers, type ApprovalLevel, type LogAccess } from './vocabulary.ts';
import type { AttestationPolicy } from './attestation.ts';

/** The most reviewers of the results of a computation. */
export const mostReviewers = 10;

const needed = v.pipe(v.number(), v.integer('Expected a whole number.'));

/**
 * The schema of `result_review` in a request: who reviews results before their release, and how many of them must release a result
 * (docs/contract.md, section 13).
 */
export const resultReviewInput = v.pipe(
  namedInput('ResultReviewInput', 'Who reviews results before their release.', {
    reviewers: v.pipe(
      v.array(userId),
      v.minLength(1, `Expected 1 to ${mostReviewers} users.`),
      v.maxLength(mostReviewers, `Expected 1 to ${mostReviewers} users.`),
      v.description(`The users (\`sub\`) who fetch results from the CVM and decide on their release: 1 to ${mostReviewers}.`),
      v.transform((users) => [...new Set(users)]),
    ),
    needed: v.pipe(
      needed,
      v.minValue(1, 'Expected at least 1.'),
      v.maxValue(mostReviewers, `Expected at most ${mostReviewers}.`),
      v.description('How many reviewers must release a result before its consumers get it. At most the number of reviewers.'),
    ),
  }),
  v.forward(
    v.partialCheck(
      [['reviewers'], ['needed']],
      ({ reviewers, needed }) => needed <= reviewers.length,
      'Expected at most the number of reviewers.',
    ),
    ['needed'],
  ),
);

const reviewEntries = {
  reviewers: v.pipe(
    v.array(shownText(255)),
    v.description('The users who fetch results from the CVM and decide on their release.'),
    v.metadata({ minItems: 1, maxItems: mostReviewers }),
  ),
  needed: described(v.number(), 'How many reviewers must release a result before its consumers get it.'),
};

/** The schema of the review of results of a computation, as users set it. */
export const resultReview = namedObject('ResultReview', 'Who reviews results before their release.', reviewEntries);
/** The review of results of a computation: its reviewers, and how many of them must release a result. */
export type ResultReview = v.InferOutput<typeof resultReview>;

/** The schema of the review of results as approvals cover it: with the users who get a released result. */
export const coveredReview = namedObject('CoveredReview', 'Who reviews results before their release, and who gets them then.', {
  ...reviewEntries,
  consumers: v.pipe(
    v.array(shownText(255)),
    v.description('The users who get a released result: the named consumers and the owner, sorted.'),
    v.metadata({ minItems: 1, maxItems: mostConsumers + 1 }),
  ),
});
/** The review of results as approvals cover it: with `consumers`, the users who get a released result, sorted. */
export type CoveredReview = v.InferOutput<typeof coveredReview>;

/** Returns the review of results as approvals cover it: with the named consumers and the owner, sorted. Null without a review. */
export const coveredReviewOf = (
  review: ResultReview | null,
  { owner, consumers }: { owner: string; consumers: readonly string[] },
): CoveredReview | null => review && { ...review, consumers: [...new Set([owner, ...consumers])].sort() };

/** The decisions of a reviewer on a result. */
export const decisions = ['release', 'withhold'] as const;
export type Decision = (typeof decisions)[number];

/** The states of a result under review. */
export const resultStates = ['awaiting_file', 'under_review', 'released', 'withheld'] as const;

/** The longest note of a reviewer, in characters. */
export const longestNote = 1_000;

/** The schema of a reviewer's note on a decision. Everyone in the domain reads it. */
export const reviewNote = v.pipe(
  text(0, longestNote),
  withoutPrivateKey,
  v.description('What the reviewer says about the decision. Up to 1,000 characters. Everyone in the domain reads it.'),
  v.examples(['acro: no cell with fewer than ten people.']),
);

/** A decision on a result, with all that the reviewer signs. */
export interface DecidedResult {
  domain: string;
  computation: string;
  run: string;
  reviewer: string;
  manifest_digest: string;
  /** The SHA3-256, in hex, of the file with the result. */
  checksum: string;
  decision: Decision;
  note: string;
}

/** Returns the text that a reviewer signs to decide on a result (docs/contract.md, section 13). */
export function decisionText(decided: DecidedResult): string {
  const { domain, computation, run, reviewer, manifest_digest, checksum, decision, note } = decided;
  return canonicalJson({
    type: 'result-decision',
    domain,
    computation: computation.toLowerCase(),
    run: run.toLowerCase(),
    reviewer,
    manifest_digest,
    checksum,
    decision,
    note,
  });
}

/**
 * Returns what becomes of a result by the decisions of its reviewers: `released` once as many as are needed release it, `withheld`
 * once so many withhold it that this cannot happen any more. Undefined while it is open.
 */
export function outcomeOf(
  { reviewers, needed }: ResultReview,
  given: readonly { decision: Decision }[],
): 'released' | 'withheld' | undefined {
  const count = (decision: Decision) => given.filter((each) => each.decision === decision).length;
  if (count('release') >= needed) return 'released'; // defence
  return count('withhold') > reviewers.length - needed ? 'withheld' : undefined;
}

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
