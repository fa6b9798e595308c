import { deleteComputation } from '../../shared/deletion/delete-computation.ts';
import { deleteComputationContract } from '../../shared/contract/computations.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { deleteComputationRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(deleteComputationRoute, deleteComputationContract, async ({ path, permit, deadline }) => {
  await deleteComputation(openTable(deadline), path.domainID, path.id, ({ owner }) => permit({ owner }));
  return {};
});
