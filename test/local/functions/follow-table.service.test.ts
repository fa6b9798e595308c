import { keysOf, listOfEntry } from 'computation-management-counted-list/keys';
import { afterEach, describe, expect, it } from 'vitest';
import { followTable } from '../../../local/functions/background.ts';
import { type InvokeFunction, localFunctions } from '../../../local/functions/local-functions.ts';
import { keyToWrite, listKeys, writableKey } from '../../../shared/table/keys.ts';
import { recordMember, type RowList, rowLists } from '../../../shared/table/row-lists.ts';
import { type Action, transact, Transaction } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { setTestEnvironment } from '../../support/test-environment.ts';
import { getItem } from '../../../shared/table/table.ts';

const embedded = sharedByTests(startEmbeddedTable);
let stop: (() => Promise<void>) | undefined;
let followedUntil: () => number;
afterEach(() => stop?.());

interface Batch {
  Records: { dynamodb: { Keys: { pk: { S: string }; sk: { S: string } } } }[];
}

/** Follows the table, and notes which list or row each call is for. */
function follow(invoke: InvokeFunction) {
  const called: string[] = [];
  const follower = followTable(embedded.table.document, (name, event) => {
    expect(name).toBe('maintenance/follow-table');
    for (const { dynamodb } of (event as Batch).Records) {
      const { pk, sk } = { pk: dynamodb.Keys.pk.S, sk: dynamodb.Keys.sk.S };
      called.push(listOfEntry({ pk, sk }) ?? `${pk} ${sk}`);
    }
    return invoke(name, event);
  });
  ({ stop } = follower);
  followedUntil = follower.followedUntil;
  return called;
}

/** Calls that end when the test decides. */
function heldCalls() {
  const ends: (() => void)[] = [];
  return { ends, invoke: () => new Promise((resolve) => ends.push(() => resolve(undefined))) };
}

/** Adds members with numbers from `first` on in one transaction. */
async function addMembers(list: RowList<'created'>, first: number, count = 1, others: Action[] = []): Promise<void> {
  const transaction = new Transaction();
  transaction.add(...others);
  for (let number = first; number < first + count; number++) {
    recordMember(transaction, list, { number, version: 1, now: 'created' });
  }
  await transaction.commit(embedded.table);
}

describe('followTable', () => {
  it('has the function fold each list that has changed, once for all its changes of a second', async () => {
    setTestEnvironment({ dynamoDb: embedded.endpoint, s3: 'http://127.0.0.1:1', stepFunctions: 'http://127.0.0.1:1' });
    const called = follow(localFunctions());
    const [list, owned] = [rowLists.computations('folded'), rowLists.ownedComputations('folded', 'alice')];
    await addMembers(list, 1, 40);
    await addMembers(owned, 41, 40);
    const totalOf = async ({ name }: RowList) => (await getItem(embedded.table, keysOf(name).head))?.['totals'];
    await expect
      .poll(() => Promise.all([totalOf(list), totalOf(owned)]), untilTestEnds)
      .toEqual([expect.arrayContaining([40]), expect.arrayContaining([40])]);
    await stop?.();
    expect(called.toSorted()).toEqual([list.name, owned.name].toSorted());
  });

  it('calls for a list again only after the call before, and at once for other lists and for all named rows together', async () => {
    const { ends, invoke } = heldCalls();
    const called = follow(invoke);
    const [busy, other] = [rowLists.computations('busy'), rowLists.computations('other')];
    const [first, second] = [1, 2].map((number) => keyToWrite(listKeys.row(other.rows, number)));
    if (!first || !second) throw new Error('No keys.');
    const rows = [first, second].map(({ pk, sk }) => `${pk} ${sk}`);
    await addMembers(busy, 1);
    await expect.poll(() => called, untilTestEnds).toEqual([busy.name]);
    await addMembers(busy, 2);
    const named = [first, second].map((key) => ({ put: { Item: { ...key, name: 'Survival' } } }));
    await addMembers(other, 1, 1, named);
    await expect.poll(() => called, untilTestEnds).toEqual([busy.name, ...rows, other.name]);
    expect(ends).toHaveLength(3);
    ends[0]?.();
    await expect.poll(() => called, untilTestEnds).toEqual([busy.name, ...rows, other.name, busy.name]);
    for (const end of ends) end();
  });

  it('calls again after a call that failed, and never for transactions that failed or wrote nothing that is followed', async () => {
    const called = follow(() => Promise.reject(new Error('no')));
    const [list, refused] = [rowLists.computations('failing'), rowLists.computations('refused')];
    const once = {
      put: { Item: { ...writableKey('counter#refused', 'counter') }, ConditionExpression: 'attribute_not_exists(pk)' },
    };
    await transact(embedded.table, [once]);
    await expect(addMembers(refused, 1, 1, [once])).rejects.toThrow('A condition of the transaction does not hold.');
    await addMembers(list, 1);
    await expect.poll(() => called, untilTestEnds).toEqual([list.name]);
    await addMembers(list, 2);
    await expect.poll(() => called, untilTestEnds).toEqual([list.name, list.name]);
  });

  it('calls again for the names of a call that failed, five times, and never for a list, which the schedule folds', async () => {
    let fails = 3;
    const called = follow(() => (--fails >= 0 ? Promise.reject(new Error('no')) : Promise.resolve()));
    const list = rowLists.computations('retried');
    const keys = [1, 2].map((number) => keyToWrite(listKeys.row(list.rows, number)));
    const rows = keys.map(({ pk, sk }) => `${pk} ${sk}`);
    await transact(
      embedded.table,
      keys.map((key) => ({ put: { Item: { ...key, name: 'Survival' } } })),
    );
    await stop?.();
    expect(called).toEqual([...rows, ...rows, ...rows, ...rows]);

    const given = follow(() => Promise.reject(new Error('no')));
    await addMembers(
      list,
      1,
      1,
      keys.slice(1).map((key) => ({ put: { Item: { ...key, name: 'Survival' } } })),
    );
    await stop?.();
    expect(given.filter((name) => name === list.name)).toHaveLength(1);
    expect(given.filter((name) => name === rows[1])).toHaveLength(6);
  });

  it('ends after the calls at work, and those for what waits; it follows no later changes', async () => {
    const { ends, invoke } = heldCalls();
    const called = follow(invoke);
    const list = rowLists.computations('ended');
    await addMembers(list, 1);
    await expect.poll(() => called, untilTestEnds).toEqual([list.name]);
    await addMembers(list, 2);
    let isStopped = false;
    const stopped = stop?.().then(() => (isStopped = true));
    await addMembers(rowLists.computations('later'), 1);
    expect([called, isStopped]).toEqual([[list.name], false]);
    ends[0]?.();
    await expect.poll(() => called, untilTestEnds).toEqual([list.name, list.name]);
    expect(isStopped).toBe(false);
    ends[1]?.();
    await stopped;
    expect(called).toEqual([list.name, list.name]);
  });

  it('tells until when named rows have been followed: now, or the oldest change of those that wait or are being followed', async () => {
    const { ends, invoke } = heldCalls();
    const called = follow(invoke);
    const key = keyToWrite(listKeys.row(rowLists.computations('position').rows, 1));
    const change = () => transact(embedded.table, [{ put: { Item: { ...key, name: 'Survival' } } }]);
    const before = Date.now();
    expect(followedUntil()).toBeGreaterThanOrEqual(before);
    await change();
    const changed = followedUntil();
    expect(changed).toBeLessThanOrEqual(Date.now());
    await expect.poll(() => called.length, untilTestEnds).toBe(1);
    await change();
    expect(followedUntil()).toBe(changed);
    ends[0]?.();
    await expect.poll(() => called.length, untilTestEnds).toBe(2);
    expect(followedUntil()).toBeGreaterThan(changed);
    ends[1]?.();
    await expect.poll(followedUntil, untilTestEnds).toBeGreaterThanOrEqual(Date.now() - 1_000);
  });
});
