import { strictObject } from 'computation-management-formats/fields';
import { computationStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { statisticsEntry } from '../statistics/read-statistics.ts';
import type { Route } from '../http/route.ts';

const mostDays = 366;

export const getStatisticsRoute = {
  name: 'statistics/get-statistics',
  endpoint: 9,
  method: 'GET',
  path: '/{domainID}/computations/statistics',
  summary: 'Get daily statistics',
  access: { anyOf: ['view'] },
  uses: { table: ['GetItem', 'Query'] },
  impact: 'Dashboards show no statistics.',
  query: strictObject({
    days: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^(?:[1-9][0-9]?|[12][0-9]{2}|3[0-5][0-9]|36[0-6])$/, 'Expected a whole number from 1 to 366.'),
        v.description('The number of UTC days to return, including today, from 1 to 366. Default 7.'),
        v.metadata({ minimum: 1, maximum: mostDays, default: 7 }),
        v.transform(Number),
      ),
      '7',
    ),
  }),
  status: 200,
  response: v.pipe(
    v.object({
      comp_stats: v.pipe(
        v.array(statisticsEntry),
        v.description('The counts, by day and status. Counts of zero are omitted.'),
        v.metadata({ maxItems: mostDays * computationStatuses.length }),
      ),
    }),
    v.title('Statistics'),
    v.description('How often computations entered each status on each day.'),
  ),
  description:
    'Returns how often computations entered each status on each UTC day (one that runs twice counts twice), sorted by day and status. Omits counts of zero.',
} as const satisfies Route;
