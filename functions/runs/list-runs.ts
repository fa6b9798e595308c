import { listRunsRoute } from '../../shared/endpoints/runs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { listRuns } from '../../shared/runs/read-runs.ts';

export const handler = endpoint(listRunsRoute, async ({ path, query, deadline }) => {
  const { runs, total } = await listRuns(openTable(deadline), path.domainID, query);
  const { limit, offset } = query;
  return { body: { runs, limit, offset, total } };
});
