import { providing, requireAction } from '../../shared/http/caller.ts';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { rememberUpload, renewUpload } from '../../shared/assets/uploads.ts';
import { createAssetRoute } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { bytesOf } from '../../shared/http/endpoint.ts';
import { refuseLarger } from '../../shared/http/parse.ts';
import { assetEtag } from '../../shared/assets/describe-asset.ts';

export const handler = changeEndpoint(createAssetRoute, {
  change: async ({ request, body, caller, table, deadline, received }) => {
    requireAction(caller, providing(body.asset.asset_type));
    if (body.asset.asset === undefined) refuseLarger(bytesOf(received).length);
    return await createAsset(table, openContentStore(deadline), { ...body.asset, ...request });
  },
  reply: (asset, { path, now }) => ({
    body: asset,
    etag: assetEtag(asset),
    headers: { location: `/${path.domainID}/assets/${asset.id}` },
    remember: rememberUpload(asset, now),
  }),
  repeat: (asset, remembered, { now, table, deadline }) => renewUpload(table, openContentStore(deadline), asset, remembered, now),
});
