import type { ContentStore } from '../rows/content-store.ts';
import { storedCvm } from '../rows/cvm.ts';
import { readClaimOfCvm } from '../rows/claim.ts';
import { type Executions, failRun } from '../lifecycle/index.ts';
import { cvmKeys, runKeys } from '../table/keys.ts';
import { type Table, getItems } from '../table/table.ts';
import { Transaction, StaleReadError, withFreshReads } from '../table/transaction.ts';
import { hasAttributes, setAttributesIf } from '../table/writes.ts';
import {
  failuresOf,
  ownerOfToken,
  parseProcessOfRun,
  parseTokens,
  type Process,
  shownOf,
  tokensItem,
  tokensOfRun,
  unchangedTokens,
  guestsIn,
  useOfGuest,
} from '../rows/agent-tokens.ts';
import { parseAgentRecord } from './agent-record.ts';
import { readCollateral } from './collateral.ts';
import { type Verified, verifyStored } from './verify-tokens.ts';
import { parseStored } from '../table/stored.ts';

/**
 * Verifies a stored attestation token, once. Shows the result with the CVM if the agent process that sent the token is still the
 * present one. Ends the run of the process if its evidence does not satisfy the policy. Safe to repeat, also after the function
 * died halfway.
 * @param key the key in storage of the object with the token
 */
export async function verifyReportedToken(
  { table, store, executions }: { table: Table; store: ContentStore; executions: Executions },
  key: string,
  now: string,
): Promise<void> {
  const owner = ownerOfToken(key);
  if (!owner) return;
  const found = await readProcess(table, owner);
  const token = found.tokens.tokens.find(({ hash }) => hash === owner.hash);
  if (!token) return;
  if (!token.attestation) {
    const verified = await verifyStored(store, key, found.cvm?.certificate ?? null, await readCollateral(table), now);
    if (!verified) return;
    await withFreshReads(table, (table) => keep(table, owner, verified, now));
  }
  await endUnsatisfied(table, executions, owner);
}

/** Reads the attestation tokens of an agent process, its CVM, and its record if it is still the present process of the CVM. */
async function readProcess(table: Table, { domain, cvmId, process }: Process) {
  const keys = [cvmKeys.process(domain, cvmId, process), cvmKeys.cvm(domain, cvmId), cvmKeys.agent(domain, cvmId)];
  const [tokens, cvm, agent] = await getItems(table, keys);
  return {
    tokens: parseTokens(tokens),
    cvm: cvm && parseStored(storedCvm, cvm, 'registered CVM'),
    agent: agent?.['process'] === process ? parseAgentRecord(agent) : undefined,
  };
}

/**
 * Stores the result of the verification of an attestation token, and shows it with the CVM if process and certificate are still
 * the same.
 * @throws StaleReadError if a token has arrived or was verified meanwhile
 */
async function keep(table: Table, owner: Process & { hash: string }, verified: Verified, now: string) {
  const { domain, cvmId, process, hash } = owner;
  const { bound_to } = verified;
  const { tokens: before, cvm, agent } = await readProcess(table, owner);
  const tokens = before.tokens.map((token) => (token.hash === hash && !token.attestation ? { ...token, ...verified } : token));
  const transaction = new Transaction();
  const Item = tokensItem(owner, { ...before, tokens }, now);
  transaction.add({ put: { Item, ...unchangedTokens(before) }, otherwise: StaleReadError });
  if (cvm && agent && bound_to !== null && cvm.certificate_sha512 === bound_to) {
    const ofCertificate = tokens.filter((token) => token.bound_to === bound_to);
    const guests = guestsIn(ofCertificate);
    const isOfCvm = { Key: cvmKeys.cvm(domain, cvmId), ...hasAttributes({ certificate_sha512: bound_to }) };
    const update = setAttributesIf(isOfCvm, {
      attestation: shownOf(ofCertificate),
      attested_process: process,
      attested_stream: agent.attested_stream,
      ...(guests.length > 0 ? { guests } : {}),
    });
    const { run_id } = agent;
    const check = { Key: cvmKeys.agent(domain, cvmId), ...hasAttributes({ process, run_id }) };
    transaction.add({ update, otherwise: StaleReadError }, { check, otherwise: StaleReadError });
    // A process that attests itself after it got a run has used its guest for that run.
    if (run_id !== undefined) transaction.add(...guests.map((guest) => useOfGuest(guest, { domain, run_id }, false)));
  }
  await transaction.commit(table);
}

/** Ends the run of an agent process as failed if its attestation tokens do not satisfy the run's policy. */
async function endUnsatisfied(table: Table, executions: Executions, { domain, cvmId, process }: Process): Promise<void> {
  const claim = await readClaimOfCvm(table, { domain, cvm_id: cvmId });
  if (claim?.token_hash === undefined) return;
  const keys = [runKeys.attestation(claim.computation_id, claim.run_id), cvmKeys.process(domain, cvmId, process)];
  const [item, tokens] = await getItems(table, keys);
  const ofRun = parseProcessOfRun(item);
  if (ofRun?.process !== process || !ofRun.attestation_policy) return;
  // A token that is not verified yet ends no honest run: it is judged once it is verified, and again as the run ends.
  const verified = tokensOfRun(ofRun, parseTokens(tokens)).filter(({ attestation }) => attestation !== null);
  const failures = failuresOf(verified, ofRun.attestation_policy);
  if (failures) await failRun(table, executions, claim, failures);
}
