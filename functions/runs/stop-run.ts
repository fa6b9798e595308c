import { contract, route } from '../../shared/endpoints/runs/stop-run.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { completeStopRequest, stopRun } from '../../shared/runs/stop-run.ts';

export const handler = changeEndpoint(route, contract, {
  change: ({ path, caller, now, permit, table, deadline }) =>
    stopRun(table, openExecutions(deadline), {
      domain: path.domainID,
      computationId: path.id,
      by: caller.id,
      now,
      permit,
    }),
  reply: ({ run, permitted }) => ({ permitted, body: run }),
  repeat: async (run, _, { path, table, deadline }) => {
    await completeStopRequest(table, openExecutions(deadline), path.domainID, run);
    return run;
  },
});
