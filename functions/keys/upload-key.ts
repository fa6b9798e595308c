import { contract, route } from '../../shared/endpoints/keys/upload-key.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { uploadKey } from '../../shared/keys/participant-key.ts';
import { readPublicKey } from '../../shared/keys/read-public-key.ts';

export const handler = changeEndpoint(route, contract, {
  change: async ({ path, body, caller, now, table }) => {
    const { spki, fingerprint } = readPublicKey(body.key, '/key');
    return await uploadKey(table, path.domainID, path.id, {
      user_id: caller.id,
      user_key: spki.toString('base64'),
      fingerprint,
      is_consumer: caller.roles.has('result_consumer'),
      uploaded_at: now,
    });
  },
  reply: ({ uploaded }) => ({ body: { uploaded } }),
});
