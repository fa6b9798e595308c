import { arrayOf, namedObject, strictObject } from 'computation-management-formats/fields';
import { computationStatuses } from 'computation-management-formats/vocabulary';
import { statisticsEntry } from '../statistics/read-statistics.ts';
import { type Route, wholeNumber } from '../http/route.ts';

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
    days: wholeNumber(1, mostDays, 7, 'The number of UTC days to return, including today, from 1 to 366. Default 7.'),
  }),
  response: namedObject('Statistics', 'How often computations entered each status on each day.', {
    comp_stats: arrayOf(
      statisticsEntry,
      mostDays * computationStatuses.length,
      'The counts, by day and status. Counts of zero are omitted.',
    ),
  }),
  description:
    'Returns how often computations entered each status on each UTC day (one that runs twice counts twice), sorted by day and status. Omits counts of zero.',
} as const satisfies Route;
