import { contract, route } from '../../shared/endpoints/runs/start-run.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { startRun } from '../../shared/runs/start-run.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, query, caller, now, permit, deadline }) => {
  const { runId, permitted } = await startRun(openTable(deadline), openExecutions(deadline), {
    domain: path.domainID,
    computationId: path.id,
    cvmId: query.cvm,
    by: caller.id,
    now,
    permit: ({ owner }) => permit({ owner }),
  });
  return { permitted, body: runId };
});
