import { deleteAsset } from '../../shared/assets/delete-asset.ts';
import { deleteAssetRoute } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { assetEtag } from '../../shared/assets/describe-asset.ts';

export const handler = changeEndpoint(deleteAssetRoute, {
  change: ({ request, path, permit, ifMatch, table }) =>
    deleteAsset(table, {
      ...request,
      id: path.id,
      permit: ({ created_by }, owner = created_by) => permit({ creator: owner }),
      matchesIfMatch: ifMatch && ((current) => ifMatch(assetEtag(current))),
    }),
  reply: ({ permitted }) => ({ permitted }),
});
