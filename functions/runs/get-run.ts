import { readComputation } from '../../shared/computations/find-computation.ts';
import { contract, route } from '../../shared/endpoints/runs/get-run.ts';
import { notFound } from '../../shared/errors.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { readRun } from '../../shared/runs/read-run.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, query, deadline }) => {
  const table = openTable(deadline);
  const [computation, older] = await Promise.all([
    readComputation(table, path.domainID, path.id),
    query.run === undefined ? undefined : readRun(table, path.domainID, query.run),
  ]);
  const run = query.run === undefined ? computation.run : older;
  if (run?.computation_id !== path.id) throw notFound('run of this computation');
  return { body: run };
});
