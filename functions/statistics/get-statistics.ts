import { getStatisticsRoute } from '../../shared/endpoints/statistics.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { readStatistics } from '../../shared/statistics/read-statistics.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getStatisticsRoute, async ({ path, query, now, deadline }) => ({
  body: { comp_stats: await readStatistics(openTable(deadline), path.domainID, query.days, now) },
}));
