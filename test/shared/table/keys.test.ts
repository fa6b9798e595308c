import { describe, expect, it } from 'vitest';
import { computationKeys, keyToWrite, listKeys, lists } from '../../../shared/table/keys.ts';
import { deleteItemIf, putItem, type Table } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';

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

describe('the key of a row with a single writer', () => {
  it('is taken by no function that writes any item', () => {
    const key = listKeys.row(lists.runs('d1'), 1);
    const writes = (table: Table) => [
      // @ts-expect-error: only the writer of runs may write this row
      () => putItem(table, { ...key, name: 'x' }),
      // @ts-expect-error: only the writer of runs may delete this row
      () => deleteItemIf(table, key, { ConditionExpression: 'attribute_exists(pk)' }),
      // @ts-expect-error: only the writer of runs may put this row into a transaction
      () => new Transaction().add({ delete: { Key: key } }),
    ];
    expect(writes).toBeTypeOf('function');
    expect(keyToWrite(key)).toEqual({ pk: 'runs#d1', sk: 'row#000000000000001' });
  });
});
