import { etagsFor } from '../../shared/computations/describe-computation.ts';
import { deleteComputation } from '../../shared/computations/delete-computation.ts';
import { deleteComputationRoute } from '../../shared/endpoints/computations.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(deleteComputationRoute, {
  change: ({ request, path, caller, permit, ifMatch, table }) =>
    deleteComputation(table, {
      ...request,
      id: path.id,
      permit: ({ owner }) => permit({ owner }),
      matchesIfMatch: ifMatch && ((row, definition) => ifMatch(...etagsFor(caller, row, definition))),
    }),
  reply: (permitted) => ({ permitted }),
});
