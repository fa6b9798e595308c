import { readRegistration } from '../../shared/cvms/command-stream.ts';
import { Deadline } from '../../shared/deadline.ts';
import { readClaims, type Claim } from '../../shared/runs/claim.ts';
import { openTable } from '../../shared/table/open-table.ts';

/** Reads the claims on CVMs that nobody registered. The others are real, and take their runs themselves. */
export async function claimsOfSimulatedCvms(): Promise<Claim[]> {
  const table = openTable(() => new Deadline());
  const claims = await readClaims(table);
  const registrations = await Promise.all(claims.map(({ domain, cvm_id }) => readRegistration(table, { domain, cvmId: cvm_id })));
  return claims.filter((_, index) => registrations[index] === undefined);
}
