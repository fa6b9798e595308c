import { providing, requireAction } from '../../shared/access/caller.ts';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { contract, route } from '../../shared/endpoints/assets/update-asset.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { updateAsset } from '../../shared/links/update-asset.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async (request) => {
  const { path, body, caller, now, deadline } = request;
  const permit = (current: { created_by: string; asset_type: string }) => {
    const permitted = request.permit({ creator: current.created_by });
    if (current.asset_type !== body.asset.asset_type) requireAction(caller, providing(body.asset.asset_type));
    return permitted;
  };
  const { asset, permitted } = await updateAsset(
    openTable(deadline),
    openContentStore(),
    path.domainID,
    path.id,
    body.asset,
    now,
    permit,
  );
  return { permitted, body: asset };
});
