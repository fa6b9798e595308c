import { describeComputation } from '../../shared/computations/describe-computation.ts';
import { readDefinition } from '../../shared/computations/definition.ts';
import { readComputation } from '../../shared/computations/find-computation.ts';
import { contract, route } from '../../shared/endpoints/computations/get-computation.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, query, caller, deadline }) => {
  const table = openTable(deadline);
  if (query.peek === 'true') {
    const { run: _, ...row } = await readComputation(table, path.domainID, path.id);
    return { body: row };
  }
  const [row, definition] = await Promise.all([readComputation(table, path.domainID, path.id), readDefinition(table, path.id)]);
  return { body: describeComputation(row, definition, caller) };
});
