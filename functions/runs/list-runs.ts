import { listRunsContract } from '../../shared/contract/runs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { listRunsRoute } from '../../shared/routes.ts';
import { listRuns } from '../../shared/runs/list-runs.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(listRunsRoute, listRunsContract, async ({ path, query, deadline }) => {
  const { runs, total } = await listRuns(openTable(deadline), path.domainID, query);
  return { body: { runs, ...query, total } };
});
