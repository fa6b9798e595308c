import { contract, route } from '../../shared/endpoints/statistics/get-statistics.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { readStatistics } from '../../shared/computations/statistics.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, query, now, deadline }) => ({
  body: { comp_stats: await readStatistics(openTable(deadline), path.domainID, query.days, now) },
}));
