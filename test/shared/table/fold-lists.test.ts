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

it('looks at a list again only after as many changes as a fold lacked, or 30 seconds', async () => {
  let time = 0;
  const clock = { now: () => time, wait: (milliseconds: number) => Promise.resolve(void (time += milliseconds)) };
  const list = rowLists.computations('resting');
  let reads = 0;
  const document = Object.assign(Object.create(embedded.table.document) as typeof embedded.table.document, {
    send: (command: { constructor: { name: string } }, options: object) => {
      reads += Number(command.constructor.name === 'QueryCommand');
      return embedded.table.document.send(command as never, options);
    },
  });
  const table = { ...embedded.table, clock, document };
  let number = 0;
  const change = async (count: number) => {
    const transaction = new Transaction();
    for (const end = number + count; number < end;)
      recordMember(transaction, list, { number: ++number, version: 1, now: 'created' });
    await transaction.commit(embedded.table);
    const [pk = ''] = listNamed(table, list.name).partitions;
    const record = { dynamodb: { Keys: { pk: { S: pk }, sk: { S: '1' } } } };
    const before = reads;
    await foldChangedLists(table, { Records: Array.from({ length: count }, () => record) });
    return reads > before;
  };
  expect(await change(2)).toBe(true);
  expect(await change(2)).toBe(false); // 4 of the 32 that are worth a fold
  time += 30_000;
  expect(await change(1)).toBe(true);
  expect(await change(26)).toBe(false);
  expect(await change(1)).toBe(true);
  expect(await listNamed(table, list.name).fold()).toMatchObject({ unfolded: 0 });
});

it('looks again at a list whose log was empty at the next change', async () => {
  const list = listNamed(embedded.table, rowLists.computations('empty').name);
  expect(await list.fold()).toMatchObject({ unfolded: 0 });
  expect(list.isDue(1)).toBe(true);
});
