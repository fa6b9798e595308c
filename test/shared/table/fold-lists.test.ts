import { expect, it } from 'vitest';
import { foldChangedLists } from '../../../shared/table/fold-lists.ts';
import { listNamed, recordMember, rowLists } from '../../../shared/table/row-lists.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

it('folds the lists of a batch, and does not wait until what they replaced may be deleted: the next batch waits for this one', async () => {
  const lists = ['one', 'other'].map((domain) => rowLists.computations(domain));
  const Records = [];
  for (const list of lists) {
    const transaction = new Transaction();
    for (let number = 1; number <= 40; number++) recordMember(transaction, list, { number, version: 1, now: 'created' });
    await transaction.commit(embedded.table);
    const [pk = ''] = listNamed(embedded.table, list.name).partitions;
    Records.push({ dynamodb: { Keys: { pk: { S: pk }, sk: { S: '1' } } } });
  }
  let waited = 0;
  const clock = { now: () => waited, wait: (milliseconds: number) => Promise.resolve(void (waited += milliseconds)) };
  expect(await foldChangedLists({ ...embedded.table, clock }, { Records })).toBe(2);
  for (const list of lists) {
    expect(await listNamed(embedded.table, list.name).fold()).toMatchObject({ unfolded: 0, pending: 1 });
  }
  expect(waited).toBeLessThan(1_000);
});
