import type { AttestationPolicy } from 'computation-management-formats/attestation';
import {
  type AgentTokens,
  failuresOf,
  parseTokens,
  tokenKey,
  type TokenOfProcess,
  unchangedTokens,
} from '../rows/agent-tokens.ts';
import type { CvmAttestation } from '../rows/attestation.ts';
import type { ContentStore } from '../rows/content-store.ts';
import { cvmKeys } from '../table/keys.ts';
import { getItem, type Table } from '../table/table.ts';
import { type Action, StaleReadError } from '../table/transaction.ts';
import { readCollateral } from './collateral.ts';
import { guestsIn, usedGuests } from './guests.ts';
import { verifyStored } from './verify-stored.ts';

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
 * attestation policy of a run. Two round trips: the second one reads the tokens from storage, all at once.
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
  const [tokens, used] = await Promise.all([Promise.all(kept.tokens.map(again)), usedGuests(table, guestsIn(kept.tokens))]);
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
