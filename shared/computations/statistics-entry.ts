import * as v from 'valibot';
import { computationStatuses } from './computation.ts';

/** The number of times that a computation entered a status on a UTC day. */
export const statisticsEntry = v.pipe(
  v.object({
    day: v.pipe(v.string(), v.description('A UTC day.'), v.metadata({ format: 'date', maxLength: 10, examples: ['2025-07-17'] })),
    status: v.pipe(v.picklist(computationStatuses), v.description('The status that computations entered.')),
    count: v.pipe(v.number(), v.integer(), v.description('The number of times that a computation entered the status.')),
  }),
  v.title('StatisticsEntry'),
  v.description('How many computations entered a status on a day.'),
);
export type StatisticsEntry = v.InferOutput<typeof statisticsEntry>;
