import { openContentStore } from '../../shared/assets/content-store.ts';
import { describeAsset } from '../../shared/assets/describe-asset.ts';
import { contract, route } from '../../shared/endpoints/assets/get-asset.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, caller, now, deadline }) => ({
  body: await describeAsset(openTable(deadline), openContentStore(deadline), {
    domain: path.domainID,
    id: path.id,
    by: caller.id,
    now,
  }),
}));
