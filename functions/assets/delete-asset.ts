import { deleteAsset } from '../../shared/deletion/delete-asset.ts';
import { deleteAssetContract } from '../../shared/contract/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { deleteAssetRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(deleteAssetRoute, deleteAssetContract, async ({ path, caller, now, permit, deadline }) => {
  await deleteAsset(openTable(deadline), path.domainID, path.id, caller.id, now, ({ created_by }) =>
    permit({ creator: created_by }),
  );
  return {};
});
