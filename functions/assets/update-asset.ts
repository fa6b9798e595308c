import { providing, requireActionToChange } from '../../shared/http/caller.ts';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { rememberUpload, renewUpload } from '../../shared/assets/uploads.ts';
import { updateAssetRoute } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { bytesOf } from '../../shared/http/endpoint.ts';
import { completeChangeOfLinked } from '../../shared/assets/linked-computations.ts';
import { updateAsset } from '../../shared/assets/update-asset.ts';
import { resultType } from 'computation-management-formats/vocabulary';
import { invalid, resultConflict } from '../../shared/runtime/errors.ts';
import { refuseLarger } from '../../shared/http/parse.ts';
import { assetEtag } from '../../shared/assets/describe-asset.ts';

export const handler = changeEndpoint(updateAssetRoute, {
  change: async ({ request, path, body, caller, permit, ifMatch, table, deadline, received }) => {
    if (body.asset.asset === undefined) refuseLarger(bytesOf(received).length);
    const { asset_type: givenType } = body.asset;
    return await updateAsset(table, openContentStore(deadline), {
      ...request,
      id: path.id,
      given: body.asset,
      permit: ({ created_by, asset_type }) => {
        const permitted = permit({ creator: created_by });
        if (asset_type === resultType) throw resultConflict('cannot be changed');
        if (givenType === resultType) throw invalid('/asset/asset_type', 'Expected algorithm or dataset.');
        if (asset_type !== givenType) requireActionToChange(caller, providing(givenType));
        return permitted;
      },
      matchesIfMatch: ifMatch && ((current) => ifMatch(assetEtag(current))),
    });
  },
  reply: ({ asset, permitted }, { now }) => ({
    permitted,
    body: asset,
    etag: assetEtag(asset),
    remember: rememberUpload(asset, now),
  }),
  repeat: async (asset, remembered, { path, now, table, deadline }) => {
    await completeChangeOfLinked(table, { domain: path.domainID, assetId: path.id }, { changedAt: asset.updated_at, now });
    return await renewUpload(table, openContentStore(deadline), asset, remembered, now);
  },
});
