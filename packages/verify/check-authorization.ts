import {
  type AttestationPolicy,
  failedChecks,
  isJudged,
  pcrOfManifest,
  pcrWithManifest,
  type Verdict,
  verifyToken,
} from 'computation-management-attestation';
import { limitsOf } from 'computation-management-formats/consent';
import { toHex } from 'computation-management-formats/bytes';
import { canonicalDigest, canonicalJson, hashOfBytes } from 'computation-management-formats/digests';
import { thumbprintOf, verifiesEs256 } from 'computation-management-formats/es256';
import { timeOf } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { checkEach, checkSpeakers } from './check-approvals.ts';
import { hasOwnHash } from './check-events.ts';
import { clockTolerance, isInOrder } from './check-run.ts';
import { check, fails, failsIf, type Finding, holds, note, party, quoted, unchecked } from './finding.ts';
import { type Approval, chainedEvent, detailsOf, statementSchema, unknownMembers } from './statement.ts';

/** The schema of an authorization: what the service states, for a nonce of the broker, about the run for whose CVM a key is asked. */
const authorizationSchema = v.object({
  statement: v.object({
    type: v.literal('run-authorization:v1'),
    ...v.entriesFromList(['nonce', 'domain', 'computation', 'run', 'cvm'], v.string()),
    certificate: v.nullable(v.string()),
    manifest_digest: v.string(),
    configuration_digest: v.string(),
    manifest: statementSchema.entries.manifest,
    approvals: statementSchema.entries.approvals,
    token_hashes: v.array(v.string()),
    started: chainedEvent,
    issued_at: v.string(),
    expires_at: v.string(),
  }),
  signature: v.string(),
  key_id: v.string(),
});
type Authorization = v.InferOutput<typeof authorizationSchema>['statement'];

/** A request for a key, as a service relays it to the broker of a party. */
export interface AskedKey {
  /** The identifier of the asset whose key is asked for. */
  asset: string;
  /** The signed authorization, as it was received. */
  authorization: unknown;
  /** The verdict on the evidence of the TEE that asks. The caller has bound the evidence to the key of the TEE. */
  evidence: Verdict;
  /** The attestation tokens of the CVM that the service names in the authorization. */
  tokens: readonly Uint8Array[];
  /** Certificates of AMD that the tokens lack. */
  certificates?: readonly Uint8Array[];
  /** Documents of Intel about the machine. */
  collateral?: NonNullable<Parameters<typeof verifyToken>[1]['collateral']>;
}

/** An approval as its user keeps it: what the user has read and approved, whatever the service says later. */
export interface OwnApproval {
  computation: string;
  manifest_digest: string;
  /** The configuration of the computation with all its members, which the digest covers. The check reads these two. */
  configuration: { approval: string; attestation_policy: AttestationPolicy | null };
  cvm_ids?: string[];
  expires_at?: string;
  max_runs?: number;
  approval_id?: string;
  /** The users who had to approve too when the approval was given, where every party must. */
  needed?: readonly string[] | undefined;
  /** The public key that signed it, base64 of DER. Undefined if it was given without a signature. */
  key?: string | undefined;
}

/** Knowledge that a party has by itself when a service asks for one of its keys. */
export interface OwnKnowledge {
  domain: string;
  user: string;
  /** The nonce that the party made for this answer of the service. */
  nonce: string;
  /** The public key of the service that the party trusts. */
  serviceKey: { kty: string; crv: string; x: string; y: string };
  /** The party's approval of the computation. Undefined if it gave none, or has withdrawn it. */
  approval: OwnApproval | undefined;
  /** The party's key: the SHA3-256 of the plain file that it opens, and the machines that may get it. */
  key: { checksum: string; release_policy: AttestationPolicy | null } | undefined;
  /** Tells that the party believes the service about which manifest the machine has, where evidence does not say it. */
  trustsServiceForManifest: boolean;
  now: Date;
}

/**
 * Checks a request for a key by what a party knows itself. The key may leave only if nothing `does not hold` and everything was checked.
 * Limits that count earlier releases are for the caller: `use` in the approval, and the run.
 * @param verify the function that verifies attestation tokens
 */
export async function checkAuthorization(asked: AskedKey, own: OwnKnowledge, verify = verifyToken): Promise<Finding[]> {
  const signed = v.safeParse(authorizationSchema, asked.authorization);
  if (!signed.success) return [fails('The authorization does not have the form of run-authorization:v1.')];
  const others = unknownMembers(asked.authorization, signed.output);
  if (others.length > 0) return [fails(`The authorization has members that nobody checks: ${others.map(quoted).join(', ')}.`)];
  const { approval, key } = own;
  if (key === undefined) return [fails(`This machine has no key of the asset ${quoted(asked.asset)}.`)];
  const { statement } = signed.output;
  if (approval === undefined || approval.computation !== statement.computation) {
    return [fails(`This machine has no approval of yours of the computation ${quoted(statement.computation)}.`)];
  }
  return [
    await checkSigned(signed.output, own),
    ...checkPlaceAndTime(statement, own),
    ...checkDigests(statement, approval),
    checkFile(statement, asked.asset, key),
    checkStarted(statement),
    ...(await checkGiven(statement, own, approval)),
    ...(await checkMachine(statement, asked, own, verify)),
    await checkManifest(statement, asked.evidence, own),
  ];
}

async function checkSigned(given: v.InferOutput<typeof authorizationSchema>, { serviceKey }: OwnKnowledge): Promise<Finding> {
  const { statement, signature, key_id } = given;
  const own = thumbprintOf(serviceKey);
  if (key_id !== own) return fails(`The authorization is signed by the key ${quoted(key_id)}, and you trust ${own}.`);
  return check(
    await verifiesEs256(textOf(statement), signature, serviceKey),
    `The key of the service that you trust, ${own}, has signed the authorization.`,
    'The signature does not fit the authorization.',
  );
}

/** Returns the canonical JSON of a statement. Empty for one without such a form, whose signature then does not fit. */
function textOf(statement: object): string {
  try {
    return canonicalJson(statement);
  } catch {
    return '';
  }
}

const longestInMilliseconds = 5 * 60_000;

function checkPlaceAndTime({ nonce, domain, issued_at, expires_at }: Authorization, own: OwnKnowledge): Finding[] {
  const [issued, expires, now] = [timeOf(issued_at), timeOf(expires_at), own.now.getTime()];
  const isShort = expires - issued <= longestInMilliseconds;
  const isCurrent = isShort && issued <= now + clockTolerance && now < expires + clockTolerance;
  const otherNonce = 'It was made for a nonce that is not of this request.';
  return [
    check(nonce === own.nonce, 'It was made for the nonce of this request.', otherNonce),
    check(domain === own.domain, 'It is for your domain.', `It is for another domain, ${quoted(domain)}.`),
    check(isCurrent, 'It has not expired.', `It is for another time: ${quoted(issued_at)} to ${quoted(expires_at)}.`),
  ];
}

function checkDigests(statement: Authorization, approval: OwnApproval): Finding[] {
  const { manifest, manifest_digest, configuration_digest, computation } = statement;
  const own = [approval.manifest_digest, canonicalDigest(approval.configuration)];
  const isOwn = manifest_digest === own[0] && configuration_digest === own[1]; // defence
  const isWhole = canonicalDigest(manifest) === manifest_digest && manifest.id === computation;
  const same = 'The run has the manifest and the configuration that you approved on this machine.';
  return [
    check(isOwn, same, 'You approved another manifest or configuration.'),
    check(isWhole, 'The manifest has its digest.', 'The manifest does not have its digest.'),
  ];
}

/** Checks that the manifest has the file of the key, and the agent fetches the file's key as that of this asset. */
function checkFile({ manifest }: Authorization, asset: string, { checksum }: NonNullable<OwnKnowledge['key']>): Finding {
  const files = [manifest.algorithm, ...manifest.datasets].filter(({ hash }) => toHex(hash) === checksum);
  return check(
    files.some(({ source }) => source?.kbs_resource_path === `${asset}/key/1`),
    'The manifest has the file that the key opens.',
    'The manifest does not have the file that the key opens.',
  );
}

function checkStarted({ started, run, cvm, manifest_digest, configuration_digest, issued_at }: Authorization): Finding {
  const details = detailsOf(started);
  const isOfRun = started.event_type === 'started' && started.run_id === run && started.cvm_id === cvm && run !== '';
  const isSame = details['manifest_digest'] === manifest_digest && details['configuration_digest'] === configuration_digest;
  const isWhole = hasOwnHash(started) && isInOrder(started.timestamp, issued_at);
  return check(
    isOfRun && isSame && isWhole,
    `The journal has the start of the run ${quoted(run)} with them: ${quoted(started.hash)}.`,
    'The event that started the run is not of this run, or was changed.',
  );
}

/** Checks the approvals of the run: the party's own by what it kept, and those of others by their signatures. */
async function checkGiven(statement: Authorization, { user, now }: OwnKnowledge, own: OwnApproval): Promise<Finding[]> {
  const { approvals, manifest, cvm, started } = statement;
  const isSigned = own.configuration.approval === 'all_signed';
  const start = { ...statement, cvm, startedAt: started.timestamp, needed: approvals.map((each) => each.user) };
  const given = await checkEach(start, approvals);
  const mine = approvals.find((each) => each.user === user);
  const missing = (own.needed ?? []).filter((each) => !approvals.some((other) => other.user === each));
  const receivers = manifest.result_consumers.filter(({ user_key }) => !approvals.some(({ key }) => key === user_key));
  return [
    ...checkSpeakers({ approvals }),
    ...given.map(({ finding, approval }) =>
      approval === mine && finding.verdict === 'note' ? holds('You approved it without a signature.') : finding,
    ),
    ...approvals.flatMap((each) => failsIf(isSigned && each.signature === null, `${party(each.user)} did not sign.`)),
    ...missing.map((each) => fails(`The approval of ${party(each)} is missing, which the computation demands.`)),
    ...failsIf(isSigned && receivers.length > 0, 'A receiver of results did not sign with the key that the manifest has.'),
    ...approvals.flatMap(({ user: each, expires_at }) => {
      const isNeeded = each === user || own.needed?.includes(each) === true;
      const isOver = expires_at !== null && !(now.getTime() < timeOf(expires_at));
      return failsIf(isNeeded && isOver, `The approval of ${party(each)} has expired.`);
    }),
    mine ? checkOwn(mine, own) : fails('Your approval is not among those of the run.'), // defence
  ];
}

function checkOwn(given: Approval, { cvm_ids, expires_at, max_runs, approval_id, key }: OwnApproval): Finding {
  const { journal_head: _, ...limits } = limitsOf(given);
  const isSame = canonicalJson(limits) === canonicalJson(limitsOf({ cvm_ids, expires_at, max_runs, approval_id }));
  const isCounted = max_runs === undefined ? given.use === null : isUse(given.use, max_runs);
  const which = max_runs === undefined ? '' : `, for the run ${String(given.use)} of ${max_runs}`;
  return check(
    isSame && isCounted && given.key === (key ?? null),
    `Your approval is the one that this machine has kept${which}.`,
    'Your approval is not the one that this machine has kept: its limits, its number or its key differ.',
  );
}

const isUse = (use: unknown, most: number) => typeof use === 'number' && Number.isSafeInteger(use) && use >= 1 && use <= most;

/**
 * Checks the machine: the tokens of the run are genuine, over the certificate of its CVM, and satisfy the policies, and so does the evidence
 * of the TEE that asks, which is the same guest.
 */
async function checkMachine(
  { token_hashes, certificate }: Authorization,
  { tokens, evidence, certificates = [], collateral = [] }: AskedKey,
  { approval, key, now }: OwnKnowledge,
  verify: typeof verifyToken,
): Promise<Finding[]> {
  const both = [approval?.configuration.attestation_policy ?? null, key?.release_policy ?? null];
  const policies = both.filter((policy) => policy !== null);
  if (policies.length === 0) return [fails('Neither the computation nor your key says which machines may get it.')];
  const hashes = tokens.map(hashOfBytes).sort();
  const isWhole = hashes.length > 0 && canonicalJson(hashes) === canonicalJson([...token_hashes].sort());
  if (!isWhole) return [fails('The tokens of the machine are not those that the authorization names.')];
  if (certificate === null) return [fails('The CVM of the run has no certificate, so nothing binds its tokens to it.')];
  const options = { boundTo: { certificate }, certificates, collateral, now };
  const all = await Promise.all(tokens.map((token) => verify(token, options)));
  const judged = all.map((verdict) => ({ kind: verdict.platform === 'azure' ? 'azure' : 'eat', verdict })).filter(isJudged);
  const guests = new Set(judged.map(({ verdict }) => verdict.guest));
  const failed = policies.flatMap((policy) => [
    ...failedChecks(judged, policy),
    ...failedChecks([{ kind: 'eat', verdict: evidence }], policy),
  ]);
  const satisfied = `The machine and its evidence satisfy ${policies.length === 1 ? 'the policy' : 'both policies'}.`;
  const reasons = failed.map(({ name, detail }) => `${name}: ${quoted(detail)}`).join('; ');
  return [
    check(failed.length === 0, satisfied, `The evidence does not satisfy the policy: ${reasons}.`),
    check(
      evidence.guest !== null && guests.size === 1 && guests.has(evidence.guest), // defence
      `The guest that asks is the guest of the run: ${evidence.guest ?? ''}.`,
      'The guest that asks is not the guest of the run.',
    ),
    note('The service alone says that the run goes on, and over the connection that attested.'),
  ];
}

async function checkManifest({ manifest }: Authorization, { pcrs }: Verdict, own: OwnKnowledge): Promise<Finding> {
  const value = pcrs?.[pcrOfManifest];
  if (value !== undefined && value === (await pcrWithManifest(manifest)))
    return holds('The evidence names the manifest that you approved.');
  if (value !== undefined && !/^0+$/.test(value))
    return fails('The evidence names another manifest than the one that you approved.');
  const say = own.trustsServiceForManifest ? note : unchecked;
  return say('The evidence does not name the manifest: the service alone says which one the machine has.');
}
