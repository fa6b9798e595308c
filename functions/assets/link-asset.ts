import { linkAssetContract } from '../../shared/contract/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { linkAsset } from '../../shared/links/link-asset.ts';
import { linkAssetRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(linkAssetRoute, linkAssetContract, async ({ path, caller, now, permit, deadline }) => {
  await linkAsset(openTable(deadline), {
    ...{ domain: path.domainID, assetId: path.id, computationId: path.computationID, by: caller.id, now },
    permit: ({ created_by }, { owner }) => permit({ creator: created_by, owner }),
  });
  return { body: { asset_id: path.id, computation_id: path.computationID, linked: true as const } };
});
