import { listAssetsRoute } from '../../shared/endpoints/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { listAssets } from '../../shared/assets/describe-asset.ts';

export const handler = endpoint(listAssetsRoute, async ({ path, query, deadline }) => {
  const { limit, offset, asset_type } = query;
  const { assets, total } = await listAssets(openTable(deadline), path.domainID, { limit, offset, asset_type });
  return { body: { assets, limit, offset, total } };
});
