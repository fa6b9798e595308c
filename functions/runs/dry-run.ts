import { readReadiness } from '../../shared/approvals/read-readiness.ts';
import { dryRun as route } from '../../shared/endpoints/runs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, async ({ path, now, deadline }) => {
  const { missing, digest } = await readReadiness(openTable(deadline), path.domainID, path.id, now);
  const headers = digest === undefined ? {} : { 'manifest-digest': digest };
  return { body: { missing_items: missing }, headers };
});
