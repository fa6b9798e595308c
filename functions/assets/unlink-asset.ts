import { unlinkAssetRoute } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { unlinkAsset } from '../../shared/assets/link-asset.ts';

export const handler = changeEndpoint(unlinkAssetRoute, {
  change: ({ request, path, permit, table }) =>
    unlinkAsset(table, {
      ...request,
      assetId: path.id,
      computationId: path.computationID,
      permit: ({ created_by }, { owner }) => permit({ creator: created_by, owner }),
    }),
  reply: (permitted, { path }) => ({
    permitted,
    body: { asset_id: path.id, computation_id: path.computationID, linked: false as const },
  }),
});
