import {
  addCounts,
  type Counts,
  countsOfState,
  emptyCounts,
  encodeIntegers,
  integersIn,
  integersOfCounts,
  type State,
} from './node.ts';

export type Days = ReadonlyMap<number, Counts>;
const daysInHead = 2;
/** The most days of a list for which counts are kept. Older days are forgotten. */
const mostDays = 400;

export function daysOf(entries: readonly { steps: readonly { day: number; now: State }[] }[]): [day: number, counts: Counts][] {
  const steps = entries.flatMap((entry) => entry.steps).filter(({ day }) => day > 0);
  return steps.map(({ day, now }) => [day, countsOfState(now)]);
}

export function addDays(days: Days, others: Iterable<[day: number, counts: Counts]>): Days {
  const sums = new Map(days);
  for (const [day, counts] of others) sums.set(day, addCounts(sums.get(day) ?? emptyCounts(), counts));
  return sums;
}

/**
 * Divides the counts of days into those in the head (the first item of the list that is read) and those in the item of the tree's
 * root.
 * @param today the present day, as `dayOf` counts
 */
export function divideDays(days: Days, today: number): { recent: Days; old: Days } {
  const isRecent = ([day]: [number, Counts]) => day > today - daysInHead;
  return { recent: new Map([...days].filter(isRecent)), old: new Map([...days].filter((each) => !isRecent(each))) };
}

export function encodeDays(days: Days): Uint8Array {
  const newest = [...days].sort(([a], [b]) => a - b).slice(-mostDays);
  return encodeIntegers(newest.flatMap(([day, counts]) => [day, ...integersOfCounts(counts)]));
}

export function decodeDays(bytes: Uint8Array): Days {
  const integers = integersIn(bytes);
  const days = new Map<number, Counts>();
  while (!integers.isAtEnd()) days.set(integers.next(), integers.counts());
  return days;
}
