import { openContentStore } from '../../shared/assets/content-store.ts';
import { updateAsset } from '../../shared/assets/update-asset.ts';
import { updateAssetContract } from '../../shared/contract/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { updateAssetRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(updateAssetRoute, updateAssetContract, async ({ path, body, now, permit }) => {
  const asset = await updateAsset(openTable(), openContentStore(), path.domainID, path.id, body.asset, now, ({ created_by }) =>
    permit({ creator: created_by }),
  );
  return { body: asset };
});
