import { deleteAsset } from '../../shared/assets/delete-asset.ts';
import { deleteAssetRoute } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { assetEtag } from '../../shared/assets/describe-asset.ts';

export const handler = changeEndpoint(deleteAssetRoute, {
  change: ({ path, caller, now, permit, ifMatch, table, answerKeeper }) =>
    deleteAsset(table, {
      domain: path.domainID,
      id: path.id,
      by: caller.id,
      now,
      permit: ({ created_by }) => permit({ creator: created_by }),
      matchesIfMatch: ifMatch && ((current) => ifMatch(assetEtag(current))),
      answerKeeper,
    }),
  reply: ({ permitted }) => ({ permitted }),
});
