import * as v from 'valibot';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { certificatesIn, lacksCertificate, type VerifyOptions, verifyToken } from 'computation-management-attestation';
import {
  type TokenOfProcess,
  type AgentTokens,
  failuresOf,
  parseTokens,
  tokenKey,
  unchangedTokens,
  guestsIn,
  usedGuests,
} from '../rows/agent-tokens.ts';
import { type Attestation, storedAttestation } from '../rows/attestation.ts';
import { type ContentStore, getContent } from '../rows/content-store.ts';
import { sharedClient } from '../runtime/clients.ts';
import { truncate } from '../runtime/errors.ts';
import { type Table, getItem } from '../table/table.ts';
import { hashOfCollateral, readCollateral } from './collateral.ts';
import type { AttestationPolicy } from 'computation-management-formats/attestation';
import type { CvmAttestation } from '../rows/cvm.ts';
import { cvmKeys } from '../table/keys.ts';
import { type Action, StaleReadError } from '../table/transaction.ts';

/** Keeps lists of byte arrays by their names in memory, up to a number of bytes. Forgets all that it has before it keeps more. */
export class KeptBytes {
  private readonly lists = new Map<string, Uint8Array[]>();
  private readonly mostBytes: number;
  private bytes = 0;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  get(name: string): Uint8Array[] | undefined {
    return this.lists.get(name);
  }

  /** Keeps a list. Does not keep one that alone has more bytes than are kept in all. */
  set(name: string, list: Uint8Array[]): void {
    const size = list.reduce((sum, { length }) => sum + length, name.length);
    if (size > this.mostBytes || this.lists.has(name)) return;
    if (this.bytes + size > this.mostBytes) {
      this.lists.clear();
      this.bytes = 0;
    }
    this.lists.set(name, list);
    this.bytes += size;
  }
}

/**
 * Returns the function that verifies attestation tokens, up to the root certificates of AMD and Intel. A service on one machine
 * replaces it (`replaceClient`) by one that trusts others.
 */
export const tokenVerifier = () => verifyToken;

type Collateral = Awaited<ReturnType<typeof readCollateral>>;

const longestDetail = 400;

/** The result of the verification of an attestation token. */
export type Verified = Pick<TokenOfProcess, 'attestation' | 'bound_to' | 'collateral_hash'>;

/**
 * Verifies a stored attestation token as of now. One round trip to storage.
 * @param key the key in storage of the object with the token
 * @param certificate the certificate of the CVM in PEM, as it was registered. Null: it has none, so no token is verified
 * @returns undefined if storage has no such object
 */
export async function verifyStored(
  store: ContentStore,
  key: string,
  certificate: string | null,
  documents: Collateral,
  now: string,
): Promise<Verified | undefined> {
  const token = await readToken(store, key);
  if (!token) return undefined;
  const bound_to = certificate === null ? null : createHash('sha512').update(certificate).digest('hex');
  return { ...(await verify(token, { ...documents, boundTo: certificate === null ? null : { certificate } }, now)), bound_to };
}

async function readToken(store: ContentStore, key: string): Promise<Buffer | undefined> {
  const content = await getContent(store, key);
  return content && (await buffer(content as AsyncIterable<Uint8Array>));
}

async function verify(token: Uint8Array, options: Omit<VerifyOptions, 'now'>, now: string) {
  let collateral_hash: string | null = null;
  const verdict = await sharedClient(tokenVerifier)(token, {
    ...options,
    now: new Date(now),
    onCollateral: (chosen) => (collateral_hash = hashOfCollateral(chosen)),
  });
  const checks = verdict.checks.map((check) => ({ ...check, detail: truncate(check.detail, longestDetail) }));
  return { attestation: v.parse(storedAttestation, { ...verdict, checks, verified_at: now }), collateral_hash };
}

/** The certificates in stored tokens, by the keys in storage of the tokens. What is stored under a key never changes, so each is read once. */
const certificatesAt = new KeptBytes(16 * 1024 * 1024); // a token, which nobody has verified, may have a mebibyte of them

async function readCertificates(store: ContentStore, key: string): Promise<Uint8Array[]> {
  const known = certificatesAt.get(key);
  if (known) return known;
  const token = await readToken(store, key);
  if (!token) return [];
  const certificates = certificatesIn(token);
  certificatesAt.set(key, certificates);
  return certificates;
}

/** The collateral that fresh evidence is verified with, and when it was read: the same for a minute, so that strangers cost no reads. */
let kept: { documents: Collateral; readAt: number } | undefined;

/**
 * Verifies the fresh evidence of a guest, in the form of a token, by the collateral of up to a minute ago. If the evidence lacks its
 * certificate alone, verifies it with those in tokens that are stored and those that operators added.
 * @param given.reportData the report data that the evidence must have
 * @param given.tokensOfRuns returns the keys in storage of tokens of the same machines
 */
export async function verifyFresh(
  { table, store }: { table: Table; store: ContentStore },
  given: { token: Uint8Array; reportData: Uint8Array; tokensOfRuns: () => Promise<string[]> },
  now: string,
): Promise<Attestation> {
  if (kept === undefined || Math.abs(Date.parse(now) - kept.readAt) > 60_000)
    kept = { documents: await readCollateral(table), readAt: Date.parse(now) };
  const { certificates: added = [], ...documents } = kept.documents;
  const options = { ...documents, boundTo: { nonce: given.reportData } };
  const { attestation } = await verify(given.token, options, now);
  if (!lacksCertificate(attestation)) return attestation;
  const ofTokens = await Promise.all((await given.tokensOfRuns()).map((key) => readCertificates(store, key)));
  const certificates = [...added, ...ofTokens.flat()];
  return (await verify(given.token, { ...options, certificates }, now)).attestation;
}

/** The attestation tokens of a CVM as the start of a run has judged them. */
export interface JudgedTokens {
  tokens: TokenOfProcess[];
  /** The reason why a run with the policy cannot start on the CVM, as a sentence. Undefined if it can. */
  refusal: string | undefined;
  /** The check for the transaction of the start that no token has come since. Empty if no agent process is known. */
  checks: Action[];
}

/**
 * Verifies all attestation tokens that the present agent process of a CVM sent, again and as of now, and judges them by the
 * attestation policy of a run. Three round trips: the second one reads the tokens from storage, all at once. The guests are those that the evidence
 * proves now: it may have come before an operator added its certificate, and proved none then.
 */
export async function judgeTokens(
  { table, store }: { table: Table; store: ContentStore },
  { domain, cvmId }: { domain: string; cvmId: string },
  { isRegistered, shown, process, certificate, connection }: CvmAttestation,
  policy: AttestationPolicy,
  now: string,
): Promise<JudgedTokens> {
  const refused = (why: string) => `The CVM ${cvmId} does not satisfy the attestation policy. ${why}`;
  const none = { tokens: [], checks: [] };
  if (!isRegistered) return { ...none, refusal: `The CVM ${cvmId} is not registered, so it satisfies no attestation policy.` };
  if (!shown || process === undefined)
    return { ...none, refusal: refused('It has no attestation of its present agent and certificate.') };
  const owner = { domain, cvmId, process };
  const key = cvmKeys.process(domain, cvmId, process);
  const [item, documents] = await Promise.all([getItem(table, key), readCollateral(table)]);
  const kept = parseTokens(item);
  const again = async (token: TokenOfProcess): Promise<TokenOfProcess> => {
    const verified = token.attestation && (await verifyStored(store, tokenKey(owner, token.hash), certificate, documents, now));
    return { ...token, ...(verified ?? { attestation: null }) };
  };
  const tokens = await Promise.all(kept.tokens.map(again));
  const used = await usedGuests(table, guestsIn(tokens));
  const why =
    whyUnsatisfied(kept, tokens, policy) ??
    (connection === 'attested' || policy.allow_reconnect ? undefined : reconnected) ??
    (used.length === 0 || policy.allow_used_guest ? undefined : whyUsed(used));
  const check = { Key: key, ...unchangedTokens(kept) };
  return { tokens, refusal: why && refused(why), checks: [{ check, otherwise: StaleReadError }] };
}

function whyUnsatisfied(kept: AgentTokens, tokens: readonly TokenOfProcess[], policy: AttestationPolicy): string | undefined {
  const failures = failuresOf(tokens, policy);
  const isVerified = tokens.every(({ attestation }) => attestation?.verdict === 'verified');
  if (failures === undefined || failuresOf(kept.tokens, policy) !== undefined) {
    return failures && `Failed checks: ${failures}${isVerified ? '' : machinesOfPlatforms}`;
  }
  const dates = kept.tokens.map(({ attestation }) => attestation?.verified_at.slice(0, 'yyyy-mm-dd'.length) ?? '');
  return `It was verified on ${dates.sort().at(-1) ?? ''}, not any more because ${failures}`;
}

const machinesOfPlatforms = '. "Which machine, which verdict" in docs/cvm.md lists the machines that can be judged';

const reconnected =
  'Its agent has attested over a connection that is gone, and nothing proves that the same machine has connected since: restart the ' +
  'agent, or allow reconnects.';

const whyUsed = (guests: readonly string[]) =>
  `The guest ${guests.join(' and ')} was given another run before, the policy allows only unused ones: start the machine anew, or allow used guests.`;
