import { linkAssetRoute } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { linkAsset } from '../../shared/assets/link-asset.ts';
import { resultType } from 'computation-management-formats/vocabulary';
import { resultConflict, ServiceError } from '../../shared/runtime/errors.ts';

const notAmongProviders = 'The computation names its `providers`, and you are not among them. Ask its owner to add you.';

export const handler = changeEndpoint(linkAssetRoute, {
  change: ({ request, path, caller, permit, table }) =>
    linkAsset(table, {
      ...request,
      assetId: path.id,
      computationId: path.computationID,
      permit: ({ created_by, asset_type }, { owner }, providers) => {
        const isProvider = providers.length === 0 || providers.includes(created_by);
        const mayElse = caller.id === owner || caller.actions.has('administer');
        if (!isProvider && caller.id === created_by && !mayElse) throw new ServiceError('forbidden', notAmongProviders);
        const permitted = permit({ creator: isProvider ? created_by : [], owner });
        if (asset_type === resultType) throw resultConflict('cannot be linked');
        return permitted;
      },
    }),
  reply: (permitted, { path }) => ({
    permitted,
    body: { asset_id: path.id, computation_id: path.computationID, linked: true as const },
  }),
});
