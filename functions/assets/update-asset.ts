import { providing, requireAction } from '../../shared/access/caller.ts';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { renewUpload } from '../../shared/assets/renew-upload.ts';
import { contract, route } from '../../shared/endpoints/assets/update-asset.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { updateAsset } from '../../shared/links/update-asset.ts';

export const handler = changeEndpoint(route, contract, {
  change: ({ path, body, caller, now, permit, table, deadline }) =>
    updateAsset(table, openContentStore(deadline), {
      domain: path.domainID,
      id: path.id,
      given: body.asset,
      now,
      permit: ({ created_by, asset_type }) => {
        const permitted = permit({ creator: created_by });
        if (asset_type !== body.asset.asset_type) requireAction(caller, providing(body.asset.asset_type));
        return permitted;
      },
    }),
  reply: ({ asset, permitted }, { now }) => ({
    permitted,
    body: asset,
    remember: asset.upload && asset.upload_key !== null ? { upload_key: asset.upload_key, given_at: now } : {},
  }),
  repeat: async (asset, { upload_key, given_at }, { now, table, deadline }) => {
    if (upload_key === undefined || given_at === undefined) return asset;
    return { ...asset, upload: await renewUpload(table, openContentStore(deadline), { upload_key, given_at }, now) };
  },
});
