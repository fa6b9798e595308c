import { linkAssetRoute } from '../../shared/endpoints/assets.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { linkAsset } from '../../shared/assets/link-asset.ts';
import { ServiceError } from '../../shared/runtime/errors.ts';

const notAmongProviders = 'The computation names its `providers`, and you are not among them. Ask its owner to add you.';

export const handler = changeEndpoint(linkAssetRoute, {
  change: ({ path, caller, now, permit, table, answerKeeper }) =>
    linkAsset(table, {
      domain: path.domainID,
      assetId: path.id,
      computationId: path.computationID,
      by: caller.id,
      now,
      permit: ({ created_by }, { owner }, providers) => {
        const isProvider = providers.length === 0 || providers.includes(created_by);
        const mayElse = caller.id === owner || caller.actions.has('administer');
        if (!isProvider && caller.id === created_by && !mayElse) throw new ServiceError('forbidden', notAmongProviders);
        return permit({ creator: isProvider ? created_by : [], owner });
      },
      answerKeeper,
    }),
  reply: (permitted, { path }) => ({
    permitted,
    body: { asset_id: path.id, computation_id: path.computationID, linked: true as const },
  }),
});
