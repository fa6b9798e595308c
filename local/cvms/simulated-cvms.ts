import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { verifyToken } from 'computation-management-attestation';
import { withTestRoots } from 'computation-management-attestation/test-roots';
import { attests, type SimulatedCvms, testRoot } from 'computation-management-simulated-cvm';
import { readRegistration } from '../../shared/rows/command-stream.ts';
import { tokenVerifier } from '../../shared/attestation/index.ts';
import { registerCvmRoute } from '../../shared/endpoints/cvms.ts';
import { type Claim, readClaims } from '../../shared/rows/claim.ts';
import { replaceClient } from '../../shared/runtime/clients.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { schemaKeys } from '../../shared/table/keys.ts';
import { openTable, type Table } from '../../shared/table/table.ts';
import { putItemIf } from '../../shared/table/writes.ts';
import type { InvokeFunction } from '../functions/local-functions.ts';

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
 * Returns a function that invokes functions of the service, and that lets a simulated CVM attest after it was registered with a
 * certificate.
 */
export function withEvidence(invoke: InvokeFunction, cvms: () => SimulatedCvms | undefined): InvokeFunction {
  return async (name, event) => {
    const answer = await invoke(name, event);
    if (name !== registerCvmRoute.name || (answer as { statusCode: number }).statusCode >= 300) return answer;
    const { pathParameters, body } = event as APIGatewayProxyEventV2;
    const { domainID: domain = '', cvmID: cvm_id = '' } = pathParameters ?? {};
    const { certificate } = JSON.parse(body ?? '') as { certificate?: string | null };
    if (certificate && attests(cvm_id)) cvms()?.attest({ domain, cvm_id, certificate });
    return answer;
  };
}

/**
 * Reads the claims on runs, each by a CVM, that simulated CVMs serve: those of CVMs that nobody registered, and with test
 * evidence also of registered CVMs that attest here. Other registered CVMs are real, and take their runs themselves.
 */
export async function claimsOfSimulatedCvms(testEvidence = false): Promise<Claim[]> {
  const table = openTable(() => new Deadline());
  const claims = await readClaims(table);
  const registrations = await Promise.all(claims.map(({ domain, cvm_id }) => readRegistration(table, { domain, cvmId: cvm_id })));
  const isSimulated = ({ cvm_id }: Claim, index: number) =>
    registrations[index] === undefined || (testEvidence && attests(cvm_id));
  return claims.filter(isSimulated);
}
