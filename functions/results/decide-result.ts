import { requireAction } from '../../shared/http/caller.ts';
import { decideResultRoute } from '../../shared/endpoints/results.ts';
import { environment } from '../../shared/runtime/environment.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { decideResult } from '../../shared/results/decide-result.ts';

export const handler = changeEndpoint(decideResultRoute, {
  change: async ({ request, path, query, body, caller, permit, table }) => {
    requireAction(caller, 'view');
    return await decideResult(table, {
      ...request,
      computationId: path.id,
      runId: query.run,
      given: body,
      resultDays: environment().RESULT_DAYS,
      permit,
    });
  },
  reply: ({ run, permitted }) => ({ permitted, body: run }),
});
