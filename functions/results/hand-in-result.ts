import { requireAction } from '../../shared/http/caller.ts';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { rememberUpload, renewUpload } from '../../shared/assets/index.ts';
import { handInResultRoute } from '../../shared/endpoints/results.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { handInResult } from '../../shared/results/hand-in-result.ts';

export const handler = changeEndpoint(handInResultRoute, {
  change: async ({ request, path, query, body, caller, permit, table, deadline }) => {
    requireAction(caller, 'view');
    return await handInResult(table, openContentStore(deadline), {
      ...request,
      computationId: path.id,
      runId: query.run,
      given: body,
      permit,
    });
  },
  reply: ({ asset, permitted }, { path, now }) => ({
    permitted,
    body: asset,
    headers: { location: `/${path.domainID}/assets/${asset.id}` },
    remember: rememberUpload(asset, now),
  }),
  repeat: (asset, remembered, { now, table, deadline }) => renewUpload(table, openContentStore(deadline), asset, remembered, now),
});
