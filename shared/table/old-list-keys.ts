import { listNames, padded, writableKey, type Key, type List } from './keys.ts';

/** How many numbers of members a leaf stands for. */
export const numbersPerLeaf = 256;
/** With six facets, a mid item stays below 1 KB, so that a write costs one write unit. */
export const leavesPerMid = 32;
export const numbersPerMid = numbersPerLeaf * leavesPerMid;

/**
 * Where earlier versions kept the index of a list, in the partition of its rows. It is read from there until the migration
 * `lists-in-trees` has carried it over:
 *   counter            the last number assigned
 *   leaf#<number/256>  the members among 256 numbers: a number set for each facet
 *   mid#<number/8192>  the number of members in each of 32 leaves: a counter for each leaf and facet
 */
export const oldListKeys = {
  counter: (list: List): Key => writableKey(list.pk, 'counter'),
  leaf: (list: List, number: number): Key => writableKey(list.pk, `leaf#${padded(Math.floor(number / numbersPerLeaf), 13)}`),
  mid: (list: List, number: number): Key => writableKey(list.pk, `mid#${padded(Math.floor(number / numbersPerMid), 11)}`),
  prefixes: { mid: 'mid#' },
};

const oneFacet = { all: 'A' };

/** The letter under which a leaf and a mid item name each value of the list's filter. `all` in a list that had no filter. */
const facets: Record<string, Readonly<Record<string, string>>> = {
  [listNames.computations]: { created: 'N', running: 'R', stopping: 'S', completed: 'C', failed: 'F', cancelled: 'X' },
  [listNames.assets]: { algorithm: 'A', dataset: 'D' },
};

export function facetsOf({ pk }: List): Readonly<Record<string, string>> {
  return facets[pk.slice(0, pk.indexOf('#'))] ?? oneFacet;
}

/** The statistics of earlier versions: an item for each UTC day, with a count for each status. */
export const oldStatisticsKeys = {
  partition: (domain: string) => `statistics#${domain}`,
};
