import { listLinkedComputationsRoute } from '../../shared/endpoints/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { listLinkedComputations } from '../../shared/assets/linked-computations.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(listLinkedComputationsRoute, async ({ path, query, deadline }) => {
  const { computations, total } = await listLinkedComputations(openTable(deadline), path.domainID, path.id, query);
  return { body: { computations, ...query, total } };
});
