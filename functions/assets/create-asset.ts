import { providing, requireAction } from '../../shared/access/caller.ts';
import { assetEtag } from '../../shared/assets/asset-etag.ts';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { contract, route } from '../../shared/endpoints/assets/create-asset.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, body, caller, now, deadline }) => {
  requireAction(caller, providing(body.asset.asset_type));
  const asset = await createAsset(openTable(deadline), openContentStore(deadline), {
    ...body.asset,
    domain: path.domainID,
    createdBy: caller.id,
    now,
  });
  return { body: asset, etag: assetEtag(asset), headers: { location: `/${path.domainID}/assets/${asset.id}` } };
});
