import { contract, route } from '../../shared/endpoints/assets/unlink-asset.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { unlinkAsset } from '../../shared/links/unlink-asset.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, caller, now, permit, deadline }) => {
  const permitted = await unlinkAsset(openTable(deadline), {
    domain: path.domainID,
    assetId: path.id,
    computationId: path.computationID,
    by: caller.id,
    now,
    permit: ({ created_by }, { owner }) => permit({ creator: created_by, owner }),
  });
  return { permitted, body: { asset_id: path.id, computation_id: path.computationID, linked: false as const } };
});
