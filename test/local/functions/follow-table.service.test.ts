import { keysOf, listOfEntry } from 'computation-management-counted-list/keys';
import { afterEach, describe, expect, it } from 'vitest';
import { followTable } from '../../../local/functions/follow-table.ts';
import { type InvokeFunction, localFunctions } from '../../../local/functions/local-functions.ts';
import { keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import { recordMember, type RowList, rowLists } from '../../../shared/table/row-lists.ts';
import { getItem } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { setTestEnvironment } from '../../support/test-environment.ts';

const embedded = sharedByTests(startEmbeddedTable);
let stop: (() => Promise<void>) | undefined;
afterEach(() => stop?.());

interface Batch {
  Records: { dynamodb: { Keys: { pk: { S: string }; sk: { S: string } } } }[];
}

/** Follows the table, and notes which list each call is for. */
function follow(invoke: InvokeFunction) {
  const called: string[] = [];
  stop = followTable(embedded.table.document, (name, event) => {
    expect(name).toBe('maintenance/follow-table');
    for (const { dynamodb } of (event as Batch).Records) {
      called.push(listOfEntry({ pk: dynamodb.Keys.pk.S, sk: dynamodb.Keys.sk.S }) ?? 'no list');
    }
    return invoke(name, event);
  });
  return called;
}

/** Writes rows with numbers from `first` on in one transaction, with their members unless the list is not `counted`. */
async function create(list: RowList<'created'>, first: number, { count = 1, counted = true } = {}): Promise<void> {
  const transaction = new Transaction();
  for (let number = first; number < first + count; number++) {
    const isNew = 'attribute_not_exists(pk)';
    const Item = { ...keyToWrite(listKeys.row(list.rows, number)), status: 'created' };
    transaction.add({ put: { Item, ConditionExpression: isNew } });
    if (counted) recordMember(transaction, list, { number, version: 1, now: 'created' });
  }
  await transaction.commit(embedded.table);
}

describe('followTable', () => {
  it('has the function fold each list that has changed, once for all its changes of a second', async () => {
    setTestEnvironment({ dynamoDb: embedded.endpoint, s3: 'http://127.0.0.1:1', stepFunctions: 'http://127.0.0.1:1' });
    const draining = new AbortController();
    const called = follow(localFunctions({ draining: draining.signal }));
    const [list, owned] = [rowLists.computations('folded'), rowLists.ownedComputations('folded', 'alice')];
    await create(list, 1, { count: 40 });
    await create(owned, 41, { count: 40 });
    const totalOf = async ({ name }: RowList) => (await getItem(embedded.table, keysOf(name).head))?.['totals'];
    await expect
      .poll(() => Promise.all([totalOf(list), totalOf(owned)]), untilTestEnds)
      .toEqual([expect.arrayContaining([40]), expect.arrayContaining([40])]);
    draining.abort();
    await stop?.();
    expect(called.toSorted()).toEqual([list.name, owned.name].toSorted());
  });

  it('calls for a list again only after the call before, and at once for other lists', async () => {
    const ends: (() => void)[] = [];
    const called = follow(() => new Promise((resolve) => ends.push(() => resolve(undefined))));
    const [busy, other] = [rowLists.computations('busy'), rowLists.computations('other')];
    await create(busy, 1);
    await expect.poll(() => called, untilTestEnds).toEqual([busy.name]);
    await create(busy, 2);
    await create(other, 1);
    await expect.poll(() => called, untilTestEnds).toEqual([busy.name, other.name]);
    ends[0]?.();
    await expect.poll(() => called, untilTestEnds).toEqual([busy.name, other.name, busy.name]);
    for (const end of ends) end();
  });

  it('calls again after a call that failed, and never for transactions that failed or have no member', async () => {
    const called = follow(() => Promise.reject(new Error('no')));
    const list = rowLists.computations('failing');
    await create(rowLists.computations('rows'), 1, { counted: false });
    await expect(create(rowLists.computations('rows'), 1)).rejects.toThrow('A condition of the transaction does not hold.');
    await create(list, 1);
    await expect.poll(() => called, untilTestEnds).toEqual([list.name]);
    await create(list, 2);
    await expect.poll(() => called, untilTestEnds).toEqual([list.name, list.name]);
  });

  it('begins nothing after its end, which waits for the calls at work', async () => {
    const ends: (() => void)[] = [];
    const called = follow(() => new Promise((resolve) => ends.push(() => resolve(undefined))));
    const list = rowLists.computations('ended');
    await create(list, 1);
    await expect.poll(() => called, untilTestEnds).toEqual([list.name]);
    let isStopped = false;
    const stopped = stop?.().then(() => (isStopped = true));
    await create(list, 2);
    expect(isStopped).toBe(false);
    ends[0]?.();
    await stopped;
    // One that follows afterwards sees that a second has passed.
    const later = follow(() => Promise.resolve());
    await create(rowLists.computations('later'), 1);
    await expect.poll(() => later, untilTestEnds).toEqual([rowLists.computations('later').name]);
    expect(called).toEqual([list.name]);
  });
});
