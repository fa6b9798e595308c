import { describe, expect, it } from 'vitest';
import { computationKeys, listKeys, lists } from '../../../shared/table/keys.ts';

// What is stored must be found again by every later version, so these places never change.

describe('listKeys', () => {
  const list = lists.runs('d1');

  it.each([
    [0, 'leaf#0000000000000', 'mid#00000000000'],
    [255, 'leaf#0000000000000', 'mid#00000000000'],
    [256, 'leaf#0000000000001', 'mid#00000000000'],
    [8191, 'leaf#0000000000031', 'mid#00000000000'],
    [8192, 'leaf#0000000000032', 'mid#00000000001'],
  ])('places the member %i in %s and %s', (number, leaf, mid) => {
    expect([listKeys.leaf(list, number), listKeys.mid(list, number)]).toEqual([
      { pk: 'runs#d1', sk: leaf },
      { pk: 'runs#d1', sk: mid },
    ]);
  });

  it('places the row of a member by its number with 15 digits', () => {
    expect(listKeys.row(list, 4711)).toEqual({ pk: 'runs#d1', sk: 'row#000000000004711' });
  });
});

describe('computationKeys', () => {
  it('places all parts of a definition below the prefix by which they are read, and no key', () => {
    const { algorithm, config, dataset, prefixes, userKey } = computationKeys;
    const parts = [config('c'), algorithm('c'), dataset('c', 'iris.csv')];
    expect(parts.map(({ sk }) => sk.startsWith(prefixes.part))).toEqual([true, true, true]);
    expect(dataset('c', 'iris.csv').sk.startsWith(prefixes.dataset)).toBe(true);
    expect(userKey('c', 'alice').sk.startsWith(prefixes.part)).toBe(false);
  });
});
