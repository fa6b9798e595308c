import { setAssetKey } from '../../shared/assets/asset-keys.ts';
import { setAssetKeyRoute } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { baseUrlOf } from '../../shared/http/endpoint.ts';
import { sealKey } from '../../shared/rows/sealed-key.ts';
import { openKms } from '../../shared/runtime/clients.ts';

export const handler = changeEndpoint(setAssetKeyRoute, {
  change: async ({ request, path, body, permit, table, deadline, received }) =>
    await setAssetKey(table, {
      ...request,
      id: path.id,
      given: body,
      brokerUrl: `${baseUrlOf(received)}/${path.domainID}`,
      seal: (given) => sealKey(openKms(deadline), given),
      permit: ({ created_by }) => permit({ creator: created_by }),
    }),
  reply: ({ key, permitted }) => ({ permitted, body: key }),
});
