import { contract, route } from '../../shared/endpoints/runs/stop-run.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { stopRun } from '../../shared/runs/stop-run.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, caller, now, permit, deadline }) => {
  const { run, permitted } = await stopRun(openTable(deadline), openExecutions(deadline), {
    domain: path.domainID,
    computationId: path.id,
    by: caller.id,
    now,
    permit: ({ owner }) => permit({ owner }),
  });
  return { permitted, body: run };
});
