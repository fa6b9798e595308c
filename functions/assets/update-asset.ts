import { permit, providing } from '../../shared/access/caller.ts';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { updateAsset } from '../../shared/links/update-asset.ts';
import { updateAssetContract } from '../../shared/contract/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { updateAssetRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(updateAssetRoute, updateAssetContract, async (request) => {
  const { path, body, caller, now, deadline } = request;
  const asset = await updateAsset(openTable(deadline), openContentStore(), path.domainID, path.id, body.asset, now, (current) => {
    request.permit({ creator: current.created_by });
    if (current.asset_type !== body.asset.asset_type) permit(caller, providing(body.asset.asset_type));
  });
  return { body: asset };
});
