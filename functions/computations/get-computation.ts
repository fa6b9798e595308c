import { describeToCaller } from '../../shared/computations/describe-computation.ts';
import { getComputationRoute } from '../../shared/endpoints/computations.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { openKms } from '../../shared/runtime/clients.ts';

export const handler = endpoint(getComputationRoute, async ({ path, query, caller, ifNoneMatch, deadline }) => {
  const request = { domain: path.domainID, id: path.id, caller, isPeek: query.peek === 'true', isKnown: ifNoneMatch };
  const { etag, computation } = await describeToCaller(openTable(deadline), openKms(deadline), request);
  return computation ? { etag, body: computation } : { etag, notModified: true };
});
