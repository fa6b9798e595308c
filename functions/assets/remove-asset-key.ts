import { removeAssetKey } from '../../shared/assets/asset-keys.ts';
import { removeAssetKeyRoute } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(removeAssetKeyRoute, {
  change: async ({ request, path, permit, table }) =>
    await removeAssetKey(table, { ...request, id: path.id, permit: ({ created_by }) => permit({ creator: created_by }) }),
  reply: ({ permitted }) => ({ permitted }),
});
