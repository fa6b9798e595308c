import { getRunRoute } from '../../shared/endpoints/runs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { readRunOfComputation } from '../../shared/runs/read-runs.ts';

export const handler = endpoint(getRunRoute, async ({ path, query, deadline }) => ({
  body: await readRunOfComputation(openTable(deadline), path.domainID, path.id, query.run),
}));
