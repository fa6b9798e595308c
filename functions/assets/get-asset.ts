import { openContentStore } from '../../shared/assets/content-store.ts';
import { describeAsset } from '../../shared/assets/describe-asset.ts';
import { getAssetContract } from '../../shared/contract/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { getAssetRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(getAssetRoute, getAssetContract, async ({ path, now, deadline }) => ({
  body: await describeAsset(openTable(deadline), openContentStore(), path.domainID, path.id, now),
}));
