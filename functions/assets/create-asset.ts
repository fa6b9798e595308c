import { providing, requireAction } from '../../shared/access/caller.ts';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { renewUpload } from '../../shared/assets/renew-upload.ts';
import { contract, route } from '../../shared/endpoints/assets/create-asset.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(route, contract, {
  change: async ({ path, body, caller, now, table, deadline }) => {
    requireAction(caller, providing(body.asset.asset_type));
    return await createAsset(table, openContentStore(deadline), {
      ...body.asset,
      domain: path.domainID,
      createdBy: caller.id,
      now,
    });
  },
  reply: (asset, { path, now }) => ({
    body: asset,
    headers: { location: `/${path.domainID}/assets/${asset.id}` },
    remember: asset.upload && asset.upload_key !== null ? { upload_key: asset.upload_key, given_at: now } : {},
  }),
  repeat: async (asset, { upload_key, given_at }, { now, table, deadline }) => {
    if (upload_key === undefined || given_at === undefined) return asset;
    return { ...asset, upload: await renewUpload(table, openContentStore(deadline), { upload_key, given_at }, now) };
  },
});
