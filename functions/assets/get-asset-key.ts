import { readAssetKey } from '../../shared/assets/asset-keys.ts';
import { getAssetKeyRoute } from '../../shared/endpoints/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getAssetKeyRoute, async ({ path, permit, deadline }) => {
  const request = {
    domain: path.domainID,
    id: path.id,
    permit: ({ created_by }: { created_by: string }) => permit({ creator: created_by }),
  };
  const { key, permitted } = await readAssetKey(openTable(deadline), request);
  return { permitted, body: key };
});
