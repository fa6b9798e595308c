import { assetTypes, computationStatuses, runStatuses } from 'computation-management-formats/vocabulary';
import { describe, expect, it } from 'vitest';
import { indexedLists, stateOf, type IndexedList } from '../../../shared/lists/indexed-list.ts';

const filters: [string, IndexedList, readonly string[]][] = [
  ['computations', indexedLists.computations('d1'), computationStatuses],
  ['runs', indexedLists.runs('d1'), runStatuses],
  ['assets', indexedLists.assets('d1'), assetTypes],
];

describe('stateOf', () => {
  it.each(filters)('has a code of its own for each value that %s are filtered by', (_, list, values) => {
    const codes = values.map((value) => stateOf(list, value));
    expect(new Set(codes).size).toBe(values.length);
    expect(Object.keys(list.states).toSorted()).toEqual([...values].toSorted());
  });
});
