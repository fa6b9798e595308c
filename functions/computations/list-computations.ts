import { listComputationsRoute } from '../../shared/endpoints/computations.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { listComputations } from '../../shared/computations/describe-computation.ts';

export const handler = endpoint(listComputationsRoute, async ({ path, query, caller, deadline }) => {
  const { limit, offset } = query;
  const waiting_for = query.waiting_for === 'me' ? caller.id : query.waiting_for;
  const found = await listComputations(openTable(deadline), path.domainID, { ...query, waiting_for });
  return { body: { ...found, limit, offset } };
});
