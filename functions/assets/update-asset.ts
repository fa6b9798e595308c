import { permit, providing } from '../../shared/access/caller.ts';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { contract, route } from '../../shared/endpoints/assets/update-asset.ts';
import { updateAsset } from '../../shared/links/update-asset.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async (request) => {
  const { path, body, caller, now, deadline } = request;
  const asset = await updateAsset(openTable(deadline), openContentStore(), path.domainID, path.id, body.asset, now, (current) => {
    request.permit({ creator: current.created_by });
    if (current.asset_type !== body.asset.asset_type) permit(caller, providing(body.asset.asset_type));
  });
  return { body: asset };
});
