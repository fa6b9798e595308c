import { uploadKeyRoute } from '../../shared/endpoints/keys.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { givenKey, uploadKey } from '../../shared/keys/participant-keys.ts';

export const handler = changeEndpoint(uploadKeyRoute, {
  change: async ({ request, path, body, caller, now, table }) =>
    await uploadKey(table, path.domainID, path.id, givenKey(caller, body.key, now), request.answerKeeper),
  reply: ({ uploaded }) => ({ body: { uploaded } }),
});
