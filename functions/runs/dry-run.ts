import { dryRunRoute } from '../../shared/endpoints/runs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { readReadiness } from '../../shared/runs/dry-run.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(dryRunRoute, async ({ path, query, now, deadline }) => {
  const request = { domain: path.domainID, id: path.id, cvmId: query.cvm, at: now };
  const { missing, warnings, digest, configuration_digest } = await readReadiness(openTable(deadline), request);
  const headers = {
    'configuration-digest': configuration_digest,
    ...(digest === undefined ? {} : { 'manifest-digest': digest }),
  };
  return { body: { missing_items: missing, ...(warnings.length > 0 && { warnings }) }, headers };
});
