import { describeAttestation } from '../../shared/attestation/describe-attestation.ts';
import { getAttestationRoute } from '../../shared/endpoints/attestation.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { readRunOfComputation } from '../../shared/runs/index.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getAttestationRoute, async ({ path, query, now, deadline }) => {
  const table = openTable(deadline);
  const run = await readRunOfComputation(table, path.domainID, path.id, query.run);
  return { body: await describeAttestation(table, openContentStore(deadline), run, now) };
});
