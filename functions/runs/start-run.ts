import { startRunContract } from '../../shared/contract/runs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { startRunRoute } from '../../shared/routes.ts';
import { startRun } from '../../shared/runs/start-run.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(startRunRoute, startRunContract, async ({ path, query, caller, now, permit, deadline }) => {
  const request = { domain: path.domainID, computationId: path.id, cvmId: query.cvm, by: caller.id, now };
  return {
    body: await startRun(openTable(deadline), openExecutions(), { ...request, permit: ({ owner }) => permit({ owner }) }),
  };
});
