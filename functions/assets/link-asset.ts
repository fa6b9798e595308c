import { contract, route } from '../../shared/endpoints/assets/link-asset.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { linkAsset } from '../../shared/links/link-asset.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, caller, now, permit, deadline }) => {
  const permitted = await linkAsset(openTable(deadline), {
    domain: path.domainID,
    assetId: path.id,
    computationId: path.computationID,
    by: caller.id,
    now,
    permit: ({ created_by }, { owner }) => permit({ creator: created_by, owner }),
  });
  return { permitted, body: { asset_id: path.id, computation_id: path.computationID, linked: true as const } };
});
