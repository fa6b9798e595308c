import { assetEtag } from '../../shared/assets/asset-etag.ts';
import { deleteAsset } from '../../shared/deletion/delete-asset.ts';
import { contract, route } from '../../shared/endpoints/assets/delete-asset.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, caller, now, permit, ifMatch, deadline }) => ({
  permitted: await deleteAsset(openTable(deadline), {
    domain: path.domainID,
    id: path.id,
    by: caller.id,
    now,
    permit: ({ created_by }) => permit({ creator: created_by }),
    isNamed: ifMatch && ((current) => ifMatch(assetEtag(current))),
  }),
}));
