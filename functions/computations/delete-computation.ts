import { etagsFor } from '../../shared/computations/computation-etag.ts';
import { deleteComputation } from '../../shared/deletion/delete-computation.ts';
import { contract, route } from '../../shared/endpoints/computations/delete-computation.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, caller, permit, ifMatch, deadline }) => ({
  permitted: await deleteComputation(openTable(deadline), {
    domain: path.domainID,
    id: path.id,
    permit: ({ owner }) => permit({ owner }),
    isNamed: ifMatch && ((row, definition) => ifMatch(...etagsFor(caller, row, definition))),
  }),
}));
