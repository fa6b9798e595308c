import * as v from 'valibot';
import { createHash } from 'node:crypto';
import { failedChecks } from 'computation-management-attestation/policy';
import { type AttestationPolicy, attestationPolicy } from 'computation-management-formats/attestation';
import { truncate } from '../runtime/errors.ts';
import { assertClaimed } from './claim.ts';
import type { CvmReference } from './cvm.ts';
import { isActive, type OfRun, type Run, type RunReference } from './run.ts';
import { type ContentStore, putContent, tokenPrefix } from './content-store.ts';
import { cvmKeys, runKeys, type Key, guestKeys } from '../table/keys.ts';
import { type Table, getItem, type Item, getItems } from '../table/table.ts';
import { hasAttributes, isAbsent, putItemIf, setAttributes } from '../table/writes.ts';
import { type Attestation, mostKeptTokens, storedAttestation } from './attestation.ts';
import { parseStored } from '../table/stored.ts';
import { ConditionFailedError, StaleReadError, Transaction, withFreshReads, type Action } from '../table/transaction.ts';
import type { Check } from 'computation-management-attestation';

/** An attestation token that an agent process sent, with what the service found in it. */
const tokenOfProcess = v.object({
  kind: v.string(),
  /** The SHA-256, in hex, of an attestation token. */
  hash: v.string(),
  size: v.number(),
  /** The result of the verification of the attestation token. Null until the token is verified. */
  attestation: v.nullable(storedAttestation),
  /** The `certificate_sha512` that the CVM had when the attestation token was verified. Null if the CVM had no certificate. */
  bound_to: v.nullable(v.string()),
  /** The SHA-256, in hex, of the collateral of Intel that an attestation token was verified with. */
  collateral_hash: v.nullable(v.string()),
});
export type TokenOfProcess = v.InferOutput<typeof tokenOfProcess>;

const processItem = v.object({ tokens: v.array(tokenOfProcess), version: v.number() });
/** The attestation tokens of an agent process, with a `version` that increases with each change. It is 0 if nothing is stored. */
export type AgentTokens = v.InferOutput<typeof processItem>;

/**
 * The number of days after which the records of attestation tokens expire. The tokens themselves are kept as long
 * (infra/state/buckets.ts).
 */
export const tokensLiveInDays = 400;

/** The agent process of a CVM. `process` is the identifier that the service gave it. */
export interface Process extends CvmReference {
  process: string;
}

/** Reads the attestation tokens of an agent process from their item. @param item at `cvmKeys.process` */
export function parseTokens(item: Item | undefined): AgentTokens {
  return item ? parseStored(processItem, item, 'agent process') : { tokens: [], version: 0 };
}

/** Returns the item that stores the attestation tokens of an agent process under the next version. */
export function tokensItem({ domain, cvmId, process }: Process, { tokens, version }: AgentTokens, now: string): Item & Key {
  const ttl = Math.ceil(Date.parse(now) / 1_000) + tokensLiveInDays * 24 * 3_600;
  return { ...cvmKeys.process(domain, cvmId, process), tokens, version: version + 1, ttl };
}

/** Returns the condition that the attestation tokens of an agent process have not changed since they were read. */
export function unchangedTokens({ version }: AgentTokens) {
  return version === 0 ? isAbsent : hasAttributes({ version });
}

/**
 * Returns the key under which storage keeps an attestation token of an agent process.
 * @param hash the SHA-256 of the token in hex
 */
export function tokenKey({ domain, cvmId, process }: Process, hash: string): string {
  return `${tokenPrefix}${domain}/${cvmId}/${process}/${hash}`;
}

/**
 * Returns the agent process and the hash of the attestation token that storage keeps under the given key. Undefined if the key
 * has another form.
 */
export function ownerOfToken(key: string): (Process & { hash: string }) | undefined {
  const [domain, cvmId, process, hash, ...more] = key.startsWith(tokenPrefix) ? key.slice(tokenPrefix.length).split('/') : [];
  return domain && cvmId && process && hash && more.length === 0 ? { domain, cvmId, process, hash } : undefined;
}

/**
 * Records an attestation token that an agent process sent over its stream, and stores it as an object, whose arrival lets a
 * function verify it. Takes up to 5 tokens of each process, and leaves out the rest: the fifth one satisfies no policy. Safe to repeat: a token whose object may be
 * missing is written again.
 */
export async function recordToken(
  table: Table,
  store: ContentStore,
  process: Process,
  { kind, token }: { kind: string; token: Uint8Array },
  now: string,
): Promise<void> {
  const hash = createHash('sha256').update(token).digest('hex');
  await withFreshReads(table, async (table) => {
    const before = parseTokens(await getItem(table, cvmKeys.process(process.domain, process.cvmId, process.process)));
    const known = before.tokens.find((each) => each.hash === hash);
    if (known ? known.attestation : before.tokens.length >= mostKeptTokens) return;
    if (!known) {
      const added = { kind, hash, size: token.length, attestation: null, bound_to: null, collateral_hash: null };
      const after = { ...before, tokens: [...before.tokens, added] };
      if (!(await putItemIf(table, tokensItem(process, after, now), unchangedTokens(before)))) throw new StaleReadError();
    }
    await putContent(store, tokenKey(process, hash), Buffer.from(token));
  });
}

export type RunOnProcess = Process & OfRun;

const processOfRun = v.object({
  domain: v.string(),
  cvmId: v.string(),
  process: v.string(),
  /** The attestation policy of the run. Undefined for a run without one. */
  attestation_policy: v.optional(attestationPolicy),
  /** The tokens of the agent process as they were judged when the run started. Empty for a run without a policy. */
  judged: v.optional(v.array(tokenOfProcess), []),
  /** The tokens of the agent process that count for the run, as they were when it ended. Undefined while the run is active. */
  frozen: v.optional(v.array(tokenOfProcess)),
});

/** The agent process that has or had a run, and its attestation tokens as far as the run has fixed them. */
export type ProcessOfRun = v.InferOutput<typeof processOfRun>;

/** Parses the item that keeps which agent process has a run. @param item read at `runKeys.attestation` */
export function parseProcessOfRun(item: Item | undefined): ProcessOfRun | undefined {
  return item && parseStored(processOfRun, item, 'process of a run');
}

/** Returns the item that keeps which agent process has a run, so that the attestation tokens of the run can be found later. */
export function processOfRunItem({ computation_id, run_id, ...process }: RunOnProcess & Partial<ProcessOfRun>): Item & Key {
  return { ...runKeys.attestation(computation_id, run_id), ...process };
}

/**
 * Records which agent process has a run, so that the attestation tokens of the run can be found later. Writes nothing if the run
 * is over, or has an attestation policy: then its start has recorded the process.
 */
export async function keepProcessOfRun(table: Table, { computation_id, run_id, ...process }: RunOnProcess): Promise<void> {
  const transaction = new Transaction();
  const update = {
    Key: runKeys.attestation(computation_id, run_id),
    ...setAttributes({ domain: process.domain, cvmId: process.cvmId, process: process.process }),
    ConditionExpression: 'attribute_not_exists(attestation_policy)',
  };
  transaction.add({ update });
  assertClaimed(transaction, { domain: process.domain, cvm_id: process.cvmId, run_id });
  await transaction.commit(table).catch((error: unknown) => {
    if (!(error instanceof ConditionFailedError || error instanceof StaleReadError)) throw error;
  });
}

/**
 * Returns the attestation tokens of the agent process of an active run: those that its start judged, as it judged them, and those
 * that came later.
 */
export function tokensOfRun({ judged }: ProcessOfRun, { tokens }: AgentTokens): TokenOfProcess[] {
  return tokens.map((token) => judged.find(({ hash }) => hash === token.hash) ?? token);
}

/**
 * Reads the attestation tokens of the agent process that has or had a run: of a run that is over, those that counted at its end.
 * Undefined if no process is known. One round trip, or two while the run is active.
 */
export async function readTokensOfRun(
  table: Table,
  { id, computation_id, status }: Pick<Run, 'id' | 'computation_id' | 'status'>,
): Promise<(Process & Pick<AgentTokens, 'tokens'>) | undefined> {
  const ofRun = parseProcessOfRun(await getItem(table, runKeys.attestation(computation_id, id)));
  if (!ofRun) return undefined;
  const { domain, cvmId, process, frozen = [] } = ofRun;
  if (!isActive(status)) return { domain, cvmId, process, tokens: frozen }; // defence
  const tokens = tokensOfRun(ofRun, parseTokens(await getItem(table, cvmKeys.process(domain, cvmId, process))));
  return { domain, cvmId, process, tokens };
}

/**
 * The largest number of characters of the list of an attestation's failed checks. A longer list is cut off. It becomes part of the reason why a
 * run ended, or of what a dry run says.
 */
const longestFailures = 800;

/** Returns the checks that fail of some attestation tokens, as a sentence. Undefined if the tokens satisfy the attestation policy. */
export function failuresOf(
  tokens: readonly Pick<TokenOfProcess, 'kind' | 'attestation'>[],
  policy: AttestationPolicy,
): string | undefined {
  const failed = failedChecks(
    tokens.map(({ kind, attestation }) => ({ kind, verdict: attestation })),
    policy,
  );
  if (failed.length === 0) return undefined;
  return truncate(failed.map(({ name, detail }) => `${name}: ${detail}`).join('; '), longestFailures);
}

/**
 * Selects the attestation that answers show of a CVM or a run. If a token was refused, that is its attestation, and preferably one
 * refused for more than debugging; a refused token of an earlier certificate does not count. Otherwise the earliest verified one,
 * or the earliest attestation if none is verified. Undefined if no token is verified yet.
 */
export function shownOf(tokens: TokenOfProcess[]): Attestation | undefined {
  const verifiedAt = ({ attestation }: TokenOfProcess) => attestation?.verified_at ?? '';
  const sorted = tokens.toSorted((a, b) => verifiedAt(a).localeCompare(verifiedAt(b)));
  const counts = ({ attestation, bound_to }: TokenOfProcess) =>
    attestation?.verdict !== 'refused' || bound_to === sorted.at(-1)?.bound_to;
  const attestations = sorted.filter(counts).flatMap(({ attestation }) => attestation ?? []);
  const refused = attestations.filter(({ verdict }) => verdict === 'refused');
  const isForMore = ({ checks }: Attestation) => checks.some(({ name, passed }) => !passed && name !== 'debug');
  const verified = attestations.find(({ verdict }) => verdict === 'verified');
  return refused.find(isForMore) ?? refused[0] ?? verified ?? attestations[0];
}

type UsingRun = Pick<RunReference, 'domain' | 'run_id'>;

// A hash: the item outlives the domain, whose other data are removed with it.
const hashOf = ({ domain, run_id }: UsingRun) => createHash('sha256').update(`${domain} ${run_id}`).digest('hex');

/**
 * Returns the action that records that a run uses an SNP guest. Of several runs, the first one stays recorded, in whichever domain
 * it was: what ran in a guest may still be there.
 * @param guest the REPORT_ID of the guest in hex
 * @param mustBeFirst true: the transaction fails with ConditionFailedError if another run was the first
 */
export function useOfGuest(guest: string, run: UsingRun, mustBeFirst: boolean): Action {
  const update = {
    Key: guestKeys.guest(guest),
    UpdateExpression: 'SET first_run = if_not_exists(first_run, :run)',
    ...(mustBeFirst ? { ConditionExpression: 'attribute_not_exists(first_run) OR first_run = :run' } : {}),
    ExpressionAttributeValues: { ':run': hashOf(run) },
  };
  return { update };
}

/**
 * Lists the REPORT_IDs of the SNP guests whose own evidence some attestation tokens are: signed, and over the certificate of the
 * CVM. The evidence of another machine, which anyone may read and send, thus marks no guest as used. Nor does evidence that nobody could
 * verify before a run without a policy, such as one without its certificate.
 */
export function guestsIn(tokens: readonly TokenOfProcess[]): string[] {
  const passed = (checks: Check[], name: string) => checks.some((check) => check.name === name && check.passed);
  // Of evidence with the quote of a vTPM, the quote is over the certificate, and on Azure nothing else is.
  const isOwn = ({ attestation }: TokenOfProcess) =>
    attestation !== null &&
    passed(attestation.checks, 'report_data') &&
    (attestation.pcrs !== null || !attestation.checks.some(({ name }) => name === 'quote')) &&
    attestation.checks.every(({ name, passed }) => name !== 'quote_nonce' || passed);
  return [...new Set(tokens.filter(isOwn).flatMap(({ attestation }) => attestation?.guest ?? []))].sort();
}

/**
 * Returns whether a run is the first one that an SNP guest was given, of all domains.
 * @param item the item at `guestKeys.guest`
 */
export const isFirstRunIn = (item: Item | undefined, run: UsingRun) => item?.['first_run'] === hashOf(run);

/** Reads which of the given SNP guests a run of any domain has used. One round trip, or none without a guest. */
export async function usedGuests(table: Table, guests: readonly string[]): Promise<string[]> {
  if (guests.length === 0) return [];
  const items = await getItems(table, guests.map(guestKeys.guest));
  return guests.filter((_, index) => items[index] !== undefined);
}
