import { stopRunRoute } from '../../shared/endpoints/runs.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { ensureExecution, openExecutions } from '../../shared/lifecycle/index.ts';
import { stopRun } from '../../shared/runs/stop-run.ts';

export const handler = changeEndpoint(stopRunRoute, {
  change: ({ request, path, permit, table, deadline }) =>
    stopRun(table, openExecutions(deadline), { ...request, computationId: path.id, permit }),
  reply: ({ run, permitted }) => ({ permitted, body: run }),
  repeat: async (run, _, { path, table, deadline }) => {
    const ofRun = { domain: path.domainID, computationId: run.computation_id, runId: run.id };
    await ensureExecution(table, openExecutions(deadline), ofRun, 'stop');
    return run;
  },
});
