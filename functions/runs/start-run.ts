import { contract, route } from '../../shared/endpoints/runs/start-run.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { startRun } from '../../shared/runs/start-run.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, query, caller, now, permit, deadline }) => {
  const request = { domain: path.domainID, computationId: path.id, cvmId: query.cvm, by: caller.id, now };
  return {
    body: await startRun(openTable(deadline), openExecutions(), { ...request, permit: ({ owner }) => permit({ owner }) }),
  };
});
