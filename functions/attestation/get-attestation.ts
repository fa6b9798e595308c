import { openContentStore } from '../../shared/rows/content-store.ts';
import { describeAttestation } from '../../shared/attestation/describe-attestation.ts';
import { getAttestationRoute } from '../../shared/endpoints/attestation.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getAttestationRoute, async ({ path, query, now, deadline }) => {
  const request = { domain: path.domainID, computationId: path.id, runId: query.run, now };
  return { body: await describeAttestation(openTable(deadline), openContentStore(deadline), request) };
});
