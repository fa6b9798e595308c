import { verifyToken } from 'computation-management-attestation';
import { withTestRoots } from 'computation-management-attestation/test-roots';
import { testRoot } from 'computation-management-simulated-cvm';
import { readRegistration } from '../../shared/rows/command-stream.ts';
import { tokenVerifier } from '../../shared/attestation/index.ts';
import { type Claim, readClaims } from '../../shared/rows/claim.ts';
import { replaceClient } from '../../shared/runtime/clients.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { schemaKeys } from '../../shared/table/keys.ts';
import { openTable, type Table } from '../../shared/table/table.ts';
import { putItemIf } from '../../shared/table/writes.ts';

/**
 * Makes the functions trust the root certificates of AMD and Intel. With test evidence, the functions trust the public test keys
 * of simulated CVMs instead.
 */
export function chooseRoots(testEvidence: boolean): void {
  replaceClient(tokenVerifier, testEvidence ? withTestRoots([Buffer.from(testRoot())]).verifyToken : verifyToken);
}

/**
 * Refuses kept data that was made with other trusted root certificates than the service uses now, because the data contains
 * verdicts on evidence.
 * @throws Error that says with which option the data was made
 */
export async function assertSameRoots(table: Table, testEvidence: boolean): Promise<void> {
  const ConditionExpression = 'attribute_not_exists(pk) OR test_evidence = :value';
  const condition = { ConditionExpression, ExpressionAttributeValues: { ':value': testEvidence } };
  if (await putItemIf(table, { ...schemaKeys.roots, test_evidence: testEvidence }, condition)) return;
  const made = testEvidence ? 'without' : 'with';
  throw new Error(`The data was made ${made} --test-evidence. Start ${made} it, or choose another directory.`);
}

/**
 * Reads the claims on runs, each by a CVM, that simulated CVMs serve over HTTP: those of CVMs that nobody registered. Registered
 * CVMs take their runs themselves.
 */
export async function claimsOfSimulatedCvms(): Promise<Claim[]> {
  const table = openTable(() => new Deadline());
  const claims = await readClaims(table);
  const registrations = await Promise.all(claims.map(({ domain, cvm_id }) => readRegistration(table, { domain, cvmId: cvm_id })));
  return claims.filter((_, index) => registrations[index] === undefined);
}
