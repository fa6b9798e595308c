import { listComputationsRoute } from '../../shared/endpoints/computations.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { listComputations } from '../../shared/computations/describe-computation.ts';

export const handler = endpoint(listComputationsRoute, async ({ path, query, deadline }) => {
  const { limit, offset, status, owner } = query;
  const { computations, total } = await listComputations(openTable(deadline), path.domainID, { limit, offset, status, owner });
  return { body: { computations, limit, offset, total } };
});
