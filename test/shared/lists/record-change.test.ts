import { describe, expect, it } from 'vitest';
import { indexedLists, memberChange } from '../../../shared/lists/indexed-list.ts';
import { recordChange } from '../../../shared/lists/record-change.ts';
import { Transaction } from '../../../shared/table/transaction.ts';

/** Counts what is to be done after it was written. */
class CountingTransaction extends Transaction {
  looks = 0;

  override afterwards(): void {
    this.looks += 1;
  }
}

const list = indexedLists.assets('d1');

function looksOf(resource: number, version: number): number {
  const transaction = new CountingTransaction();
  const changes = [memberChange(list, resource, { now: 'dataset' })];
  recordChange(transaction, list.index, { resource, version, changes });
  expect(transaction.actionsLeft).toBe(99);
  return transaction.looks;
}

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('recordChange', () => {
  it('looks whether to fold after every 16th change of a resource, and after every 16th new resource', () => {
    expect(sum(oneTo(272).map((version) => looksOf(1, version)))).toBe(17);
    expect(sum(oneTo(272).map((resource) => looksOf(resource, 1)))).toBe(17);
  });
});
