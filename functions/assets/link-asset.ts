import { linkAsset as route } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { linkAsset } from '../../shared/links/link-asset.ts';

export const handler = changeEndpoint(route, {
  change: ({ path, caller, now, permit, table, answerKeeper }) =>
    linkAsset(table, {
      domain: path.domainID,
      assetId: path.id,
      computationId: path.computationID,
      by: caller.id,
      now,
      permit: ({ created_by }, { owner }, providers) =>
        permit({ creator: providers.length === 0 || providers.includes(created_by) ? created_by : [], owner }),
      answerKeeper,
    }),
  reply: (permitted, { path }) => ({
    permitted,
    body: { asset_id: path.id, computation_id: path.computationID, linked: true as const },
  }),
});
