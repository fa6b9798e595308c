import { plainName, quotedText } from 'computation-management-formats/quoted-name';
import { timeOf } from 'computation-management-formats/timestamps';
import { type ApprovalChange, change } from 'computation-management-formats/covered-changes';
import { withoutServerKey } from '../rows/agent-config.ts';
import { assetsPerComputation } from '../rows/computation.ts';
import { approvableOf, assetsOf, type Inputs, type MissingItems, resultConsumers, reviewOf } from '../rows/manifest.ts';
import type { ApprovalOfRun, RunSnapshot } from '../rows/run-snapshot.ts';
import { type StoredApproval, isUsedUp, usedRunsOf } from '../rows/stored-approval.ts';
import { platformsWithGuest, withoutGuest } from 'computation-management-formats/attestation';
import { pathOfKey } from '../rows/asset-key.ts';
import type { StoredAsset } from '../rows/asset.ts';

/** A user whose approval a run of the computation needs, and why. */
export interface NeededApproval {
  user: string;
  /** The file names of the user's assets that make the user's approval of a run necessary. */
  files: string[];
  /** True if the user must approve a run because the user is a result consumer. */
  asConsumer: boolean;
  /** True if the user must approve a run because the user reviews its result. */
  asReviewer: boolean;
}

/**
 * Lists the users whose approval a run needs: creators of linked assets, result consumers and reviewers, depending on the `approval` of the
 * computation and the `use` of each asset (docs/contract.md, section 9).
 */
export function neededApprovals(inputs: Inputs): NeededApproval[] {
  const isAll = inputs.computation.approval !== 'none';
  const assets = assetsOf(inputs).filter(({ use }) => isAll || use === 'approval'); // defence
  const consumers = isAll ? consumersOf(inputs) : new Set<string>();
  const reviewers = new Set(isAll ? inputs.result_review?.reviewers : []);
  const users = new Set([...assets.map(({ created_by }) => created_by), ...consumers, ...reviewers]);
  return [...users].map((user) => ({
    user,
    files: assets.filter(({ created_by }) => created_by === user).map(({ file_name }) => file_name),
    asConsumer: consumers.has(user),
    asReviewer: reviewers.has(user),
  }));
}

/**
 * Returns the users who may fetch the result of a run. The owner of the computation is one of them even before uploading a key.
 */
function consumersOf(inputs: Inputs): Set<string> {
  return new Set([inputs.computation.owner, ...resultConsumers(inputs)]);
}

/** The most characters of the reason of a refusal in the sentence about it. */
const longestShownReason = 300;
const consumer = 'result consumer';
const reviewer = 'reviewer';
/**
 * The largest number of reasons for one approval: a reason for each asset of a computation, and one for a result consumer or a
 * reviewer, since nobody is both.
 */
export const mostReasons = assetsPerComputation + 1;

/**
 * Lists the reasons why the approval of a user is needed: the file names of the user's assets, `result consumer` and `reviewer`. A
 * file with one of these names is in quotes.
 */
export function becauseOf({ files, asConsumer, asReviewer }: NeededApproval): string[] {
  const parts = [...(asConsumer ? [consumer] : []), ...(asReviewer ? [reviewer] : [])];
  return [...files.map((file) => (file === consumer || file === reviewer ? `"${file}"` : file)), ...parts];
}

/**
 * Describes missing approvals of a run as sentences for `missing_items.info`. Names the allowed CVMs if a user has approved, but
 * only runs on other CVMs. If a user has refused, the refusal with the first 300 characters of its reason is the only sentence.
 */
function sentencesOf(missing: NeededApproval[], inputs: Inputs, context: ApprovalContext): string[] {
  return missing.flatMap(({ user, files, asConsumer, asReviewer }) => {
    const refusal = inputs.refusals.find(({ user_id }) => user_id === user);
    if (refusal) return [`${plainName(user)} refuses: ${reasonText(refusal.reason)}`];
    const given = inputs.approvals.find(({ user_id }) => user_id === user);
    const approval = `Approval of ${plainName(user)}`;
    if (given && isOnlyUsedUp(given, inputs, context)) return [`${approval}, for ${runsText(given.max_runs)}, all used`];
    const elsewhere = given && !isStale(given, inputs, context) ? given : undefined;
    if (elsewhere) return [`${approval}, ${limitIn(elsewhere, context)}`];
    return [
      ...files.map((file) => `${approval} for ${plainName(file)}`),
      ...(asConsumer ? [`${approval} as ${consumer}`] : []),
      ...(asReviewer ? [`${approval} as ${reviewer}`] : []),
    ];
  });
}

/** Tells whether an approval would count if fewer runs had started on it. */
function isOnlyUsedUp(approval: StoredApproval, inputs: Inputs, context: ApprovalContext): boolean {
  return isUsedUp(approval, inputs.used_runs) && !isStale(approval, { ...inputs, used_runs: {} }, context);
}

const runsText = (count: number | null) => (count === 1 ? '1 run' : `${count} runs`);

const likeOurs = /refuses:|approval of|missing /i;

/**
 * Returns a reason as it is if it is one plain line without quotes, and without words by which the sentences of others begin. Returns
 * others in quotes, of a long reason the first 300 characters.
 */
function reasonText(reason: string): string {
  const shown = quotedText(reason.slice(0, longestShownReason).toWellFormed());
  if (reason.length > longestShownReason) return `${shown}…`;
  return shown === `"${reason}"` && !likeOurs.test(reason) ? reason : shown;
}

function limitIn({ cvm_ids }: StoredApproval, { cvm }: ApprovalContext): string {
  const ids = cvm_ids ?? [];
  if (cvm && ids.includes(cvm.id)) return `which allows the CVM ${cvm.id} only with another certificate`;
  return `which allows only the ${ids.length === 1 ? 'CVM' : 'CVMs'} ${[ids.slice(0, -1).join(', '), ...ids.slice(-1)].filter(Boolean).join(' and ')}`;
}

/** The manifest, the time and the CVM for which approvals are checked. */
export interface ApprovalContext {
  /** The digest of the current manifest. Undefined while something of the manifest is missing. */
  digest: string | undefined;
  configuration_digest: string;
  /** The time at which the approvals of a run must be valid: RFC 3339, UTC, milliseconds. */
  at: string;
  /** The CVM of the run. Undefined if the run may be on any CVM. */
  cvm?: CvmOfRun | undefined;
}

/** The CVM that a run is to use, with what approvals say about CVMs. */
export interface CvmOfRun {
  id: string;
  /** The fingerprint of the certificate of the CVM. Undefined if the CVM has no certificate or is not registered. */
  certificate: string | undefined;
  /** The certificate of the CVM in PEM, byte for byte as it was registered. */
  pem?: string | undefined;
}

/**
 * Tells whether an approval does not count on any CVM: the manifest or the configuration has changed, or the approval has a
 * reason of its own, such as its expiry.
 */
export function isStale(
  approval: StoredApproval,
  inputs: Inputs,
  { digest, configuration_digest, at }: ApprovalContext,
): boolean {
  if (approval.digest !== digest || approval.configuration_digest !== configuration_digest) return true; // defence
  return ownReasons(approval, inputs, at).length > 0;
}

/**
 * Lists the reasons, apart from changes of manifest and configuration, why an approval does not count: a signature is missing,
 * the key was replaced, the approval has expired, or as many runs have started on it as it allows.
 */
export function ownReasons(approval: StoredApproval, { computation, keys, used_runs }: Inputs, at: string): ApprovalChange[] {
  const { user_id, expires_at, signature, key, max_runs } = approval;
  const uploaded = keys.find((each) => each.user_id === user_id)?.user_key ?? null;
  return [
    ...(signature === null && computation.approval === 'all_signed' ? [change('/signature', null, 'required')] : []),
    ...(key !== null && uploaded !== key ? [change('/signature', key, uploaded)] : []), // defence
    ...(expires_at !== null && !(timeOf(expires_at) > timeOf(at)) ? [change('/expires_at', expires_at, at)] : []),
    ...(isUsedUp(approval, used_runs) ? [change('/max_runs', max_runs, usedRunsOf(approval, used_runs))] : []),
  ];
}

/**
 * Tells whether an approval allows a run on a CVM. An approval that names CVMs counts only for the certificates that these CVMs
 * had when it was given.
 */
function allows({ cvm_ids, certificates }: StoredApproval, cvm: CvmOfRun | undefined): boolean {
  if (!cvm || cvm_ids === null) return true;
  return cvm_ids.includes(cvm.id) && certificates[cvm.id] === (cvm.certificate ?? null); // defence
}

function validApprovals(inputs: Inputs, context: ApprovalContext): StoredApproval[] {
  return inputs.approvals.filter((approval) => allows(approval, context.cvm) && !isStale(approval, inputs, context));
}

/** Lists the approvals that a run needs and that nobody has given, or that do not count at the given time or on the given CVM. */
export function missingApprovals(inputs: Inputs, context: ApprovalContext): NeededApproval[] {
  const users = new Set(validApprovals(inputs, context).map(({ user_id }) => user_id));
  return neededApprovals(inputs).filter(({ user }) => !users.has(user));
}

/**
 * The largest size, as JSON, of the snapshot that a run keeps of its manifest, configuration and approvals. It leaves room below
 * the 400 KB of a DynamoDB item.
 */
const snapshotLimitInBytes = 380 * 1024;

/** The snapshot that a run of a computation would keep now, and the things that the run still lacks. */
export interface Readiness {
  /**
   * The snapshot that a run of the computation would keep: its manifest, configuration, assets and approvals. Undefined while
   * something of the manifest is missing. Missing approvals do not prevent it.
   */
  snapshot: RunSnapshot | undefined;
  configuration_digest: string;
  /**
   * The things that a run of the computation still lacks, approvals included. All lists are empty if the computation is ready to
   * run.
   */
  missing: MissingItems;
}

/**
 * Returns the snapshot that a run would keep of its manifest, configuration and approvals, and what is missing before it can
 * start: parts of the manifest, approvals, or room in a snapshot of at most 380 KiB.
 */
export function readinessOf(inputs: Inputs, { at, cvm }: Pick<ApprovalContext, 'at' | 'cvm'>): Readiness {
  const { manifest, digest, missing, configuration_digest } = approvableOf(inputs);
  const context = { digest, configuration_digest, at, cvm };
  const info = [...sentencesOf(missingApprovals(inputs, context), inputs, context), ...keyGaps(inputs)];
  if (missing) return { snapshot: undefined, configuration_digest, missing: { ...missing, info: [...missing.info, ...info] } };

  const approvals = validApprovals(inputs, context);
  const snapshot: RunSnapshot = {
    owner: inputs.computation.owner,
    manifest,
    agent_config: inputs.agent_config,
    manifest_digest: digest,
    configuration_digest,
    assets: assetsOf(inputs).map(({ id, created_by, use, checksum, key }) => ({
      id,
      creator: created_by,
      use,
      checksum: checksum ?? '',
      key: key && { fingerprint: key.fingerprint, held: key.held, release_policy: key.release_policy },
    })),
    approvals: approvals.map((approval) => ofRun(approval, inputs)).sort((a, b) => (a.user < b.user ? -1 : 1)),
    approval: inputs.computation.approval,
    log_access: inputs.computation.log_access,
    result_review: reviewOf(inputs),
    certificate: cvm?.pem ?? null,
    shows_creators_logs: inputs.computation.approval !== 'none' || inputs.providers.length > 0,
    attestation_policy: inputs.attestation_policy,
    result_consumers: resultConsumers(inputs),
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

function ofRun({ user_id, certificates: _, ...approval }: StoredApproval, { used_runs }: Inputs): ApprovalOfRun {
  const used = usedRunsOf(approval, used_runs);
  return { user: user_id, ...approval, use: used === null ? null : used + 1 };
}

/** Tells whether anything is missing before a run of a computation can start. */
export function isIncomplete({ keys, hashes, info }: MissingItems): boolean {
  return keys.length + hashes.length + info.length > 0;
}

/** The most keys of assets that a run keeps: the transaction of its start has room for these. */
export const mostKeys = 70;

/**
 * Describes as sentences for `missing_items.info` why the CVM of a run would not get the key of an asset: the key was removed, the platforms that
 * may get it are none, or some whose evidence names no guest, or the run has too many keys.
 */
function keyGaps(inputs: Inputs): string[] {
  const assets = assetsOf(inputs);
  const keys = assets.filter(({ key }) => key !== null).length;
  const tooMany = `Fewer keys: a run can have ${mostKeys} files with keys, and this one would have ${keys}`;
  return [...assets.flatMap((asset) => gapOf(asset, inputs)), ...(keys > mostKeys ? [tooMany] : [])];
}

function gapOf({ id, file_name, key, former_key, source }: StoredAsset, { attestation_policy }: Inputs): string[] {
  const what = `Key of ${plainName(file_name)}`;
  if (!key) return former_key && source?.kbs_resource_path === pathOfKey(id) ? [`${what}, which its creator removed`] : [];
  const policies = [key.release_policy, attestation_policy].filter((policy) => policy !== null);
  const [first = [], second = first] = policies.map(({ platforms }) => platforms);
  const platforms = first.filter((platform) => second.includes(platform));
  if (first.length > 0 && platforms.length === 0)
    return [`${what}, which its policy and that of the computation release to no platform in common`];
  const without = withoutGuest({ platforms });
  if (without.length === 0) return [];
  return [
    `${what}, which is released to ${platformsWithGuest.join(', ')} alone: the policies also allow ${without.join(', ')}, whose evidence names no guest`,
  ];
}

/** Returns the assets with a key of which no policy says which CVMs may get it. */
export function keysWithoutPolicy(inputs: Inputs): StoredAsset[] {
  if (inputs.attestation_policy) return [];
  return assetsOf(inputs).filter(({ key }) => key !== null && key.release_policy === null);
}
