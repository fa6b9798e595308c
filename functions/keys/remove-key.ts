import { requireAccess } from '../../shared/http/caller.ts';
import { removeKeyRoute } from '../../shared/endpoints/keys.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { removeKey } from '../../shared/keys/participant-keys.ts';

export const handler = changeEndpoint(removeKeyRoute, {
  change: async ({ request, path, query, caller, table }) =>
    await removeKey(table, {
      ...request,
      computationId: path.id,
      user: query.user ?? caller.id,
      permitOther: (owner) => requireAccess(caller, { anyOf: ['administer'], or: ['owner'] }, { owner }),
    }),
  reply: () => ({}),
});
