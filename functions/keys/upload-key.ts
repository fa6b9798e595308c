import { contract, route } from '../../shared/endpoints/keys/upload-key.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { uploadKey } from '../../shared/keys/participant-key.ts';
import { readPublicKey } from '../../shared/keys/read-public-key.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, body, caller, now, deadline }) => {
  const { spki, fingerprint } = readPublicKey(body.key, '/key');
  await uploadKey(openTable(deadline), path.domainID, path.id, {
    user_id: caller.id,
    user_key: spki.toString('base64'),
    fingerprint,
    is_consumer: caller.roles.has('result_consumer'),
    uploaded_at: now,
  });
  return { body: { uploaded: true as const } };
});
