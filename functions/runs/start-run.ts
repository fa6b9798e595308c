import { startRunRoute } from '../../shared/endpoints/runs.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { ensureExecution, openExecutions } from '../../shared/lifecycle/index.ts';
import { startRun } from '../../shared/runs/start-run.ts';

export const handler = changeEndpoint(startRunRoute, {
  change: ({ request, path, query, permit, table, deadline }) =>
    startRun(table, openExecutions(deadline), {
      ...request,
      computationId: path.id,
      cvmId: query.cvm,
      permit: ({ owner }) => permit({ owner }),
    }),
  reply: ({ runId, permitted }) => ({ permitted, body: runId }),
  repeat: async (runId, _, { path, table, deadline }) => {
    const run = { domain: path.domainID, computationId: path.id, runId };
    await ensureExecution(table, openExecutions(deadline), run, 'run');
    return runId;
  },
});
