import { describe, expect, it } from 'vitest';
import { indexedLists, memberChange } from '../../../shared/lists/indexed-list.ts';
import { recordChange } from '../../../shared/lists/fold-due.ts';
import { Transaction } from '../../../shared/table/transaction.ts';

/** Counts the checks that follow it. */
class CountingTransaction extends Transaction {
  checks = 0;

  override afterwards(): void {
    this.checks += 1;
  }
}

const list = indexedLists.assets('d1');

function checksOf(resource: number, version: number): number {
  const transaction = new CountingTransaction();
  const changes = [memberChange(list, resource, { now: 'dataset' })];
  recordChange(transaction, list.index, { resource, version, changes });
  expect(transaction.actionsLeft).toBe(99);
  return transaction.checks;
}

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('recordChange', () => {
  it('checks whether to fold after every 16th change of a resource, and after every 16th new resource', () => {
    expect(sum(oneTo(272).map((version) => checksOf(1, version)))).toBe(17);
    expect(sum(oneTo(272).map((resource) => checksOf(resource, 1)))).toBe(17);
  });
});
