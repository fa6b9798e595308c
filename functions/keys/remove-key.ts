import { requireAccess } from '../../shared/http/caller.ts';
import { removeKeyRoute } from '../../shared/endpoints/keys.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { removeKey } from '../../shared/keys/participant-keys.ts';

export const handler = changeEndpoint(removeKeyRoute, {
  change: async ({ path, query, caller, now, table, answerKeeper }) =>
    await removeKey(table, {
      domain: path.domainID,
      computationId: path.id,
      user: query.user ?? caller.id,
      by: caller.id,
      now,
      permitOther: (owner) => requireAccess(caller, { anyOf: ['administer'], or: ['owner'] }, { owner }),
      answerKeeper,
    }),
  reply: () => ({}),
});
