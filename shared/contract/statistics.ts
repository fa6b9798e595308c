import * as v from 'valibot';
import type { Contract } from '../http/contract.ts';
import { statisticsEntry } from '../computations/statistics-entry.ts';

export const getStatisticsContract = {
  query: v.strictObject({
    days: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^(?:[1-9][0-9]?|[12][0-9]{2}|3[0-5][0-9]|36[0-6])$/, 'Expected a whole number from 1 to 366.'),
        v.description('How many UTC days, with today; 7 unless told.'),
        v.metadata({ minimum: 1, maximum: 366, default: 7 }),
        v.transform(Number),
      ),
      '7',
    ),
  }),
  status: 200,
  response: v.object({ comp_stats: v.array(statisticsEntry) }),
  description: 'How many computations entered each status on each UTC day, by day then status. Days without any are left out.',
} as const satisfies Contract;
