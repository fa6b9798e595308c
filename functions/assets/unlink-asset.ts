import { unlinkAssetContract } from '../../shared/contract/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { unlinkAsset } from '../../shared/links/unlink-asset.ts';
import { unlinkAssetRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(unlinkAssetRoute, unlinkAssetContract, async ({ path, caller, now, permit, deadline }) => {
  await unlinkAsset(openTable(deadline), {
    ...{ domain: path.domainID, assetId: path.id, computationId: path.computationID, by: caller.id, now },
    permit: ({ created_by }, { owner }) => permit({ creator: created_by, owner }),
  });
  return { body: { asset_id: path.id, computation_id: path.computationID, linked: false as const } };
});
