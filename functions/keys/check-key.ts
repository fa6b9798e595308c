import { checkKeyRoute } from '../../shared/endpoints/keys.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { hasKey } from '../../shared/keys/participant-keys.ts';

export const handler = endpoint(checkKeyRoute, async ({ path, caller, deadline }) => {
  return { body: { uploaded: await hasKey(openTable(deadline), path.domainID, path.id, caller.id) } };
});
