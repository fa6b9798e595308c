import { readDescribed } from '../../shared/computations/describe-computation.ts';
import { readComputation } from '../../shared/computations/find-computation.ts';
import { contract, route } from '../../shared/endpoints/computations/get-computation.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, query, caller, deadline }) => {
  const table = openTable(deadline);
  return {
    body:
      query.peek === 'true'
        ? await readComputation(table, path.domainID, path.id)
        : await readDescribed(table, path.domainID, path.id, caller),
  };
});
