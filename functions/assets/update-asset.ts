import { providing, requireAction } from '../../shared/access/caller.ts';
import { assetEtag } from '../../shared/assets/asset-etag.ts';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { contract, route } from '../../shared/endpoints/assets/update-asset.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { updateAsset } from '../../shared/links/update-asset.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, body, caller, now, permit, ifMatch, deadline }) => {
  const { asset, permitted } = await updateAsset(openTable(deadline), openContentStore(deadline), {
    domain: path.domainID,
    id: path.id,
    given: body.asset,
    by: caller.id,
    now,
    permit: ({ created_by, asset_type }) => {
      const permitted = permit({ creator: created_by });
      if (asset_type !== body.asset.asset_type) requireAction(caller, providing(body.asset.asset_type));
      return permitted;
    },
    isNamed: ifMatch && ((current) => ifMatch(assetEtag(current))),
  });
  return { permitted, body: asset, etag: assetEtag(asset) };
});
