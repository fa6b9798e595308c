import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AnyKey } from '../../../shared/table/keys.ts';
import { untilTestEnds } from '../patience.ts';
import { startAwsTable, type AwsTable } from './aws-dynamodb.ts';
import { commandsOn, keysIn, type TableCommands } from './table-commands.ts';
import { testClock, type TestClock } from '../test-clock.ts';

let clock: TestClock;
let aws: AwsTable;
let through: TableCommands;
beforeAll(async () => {
  clock = testClock({ start: 0, speed: 0 });
  aws = await startAwsTable({ clock, transactionInMilliseconds: 15, singleWriteInMilliseconds: 5, maxAttempts: 1 });
  through = commandsOn(aws.table);
});
afterAll(() => aws.stop());

const singleWriteConflict = { name: 'TransactionConflictException' };
const cancelledWith = (...Codes: string[]) => ({
  name: 'TransactionCanceledException',
  CancellationReasons: Codes.map((Code): unknown => expect.objectContaining({ Code })),
});

/** Does a write whose time passes at once. */
async function done(write: Promise<unknown>): Promise<void> {
  await clock.untilTimers(1);
  await clock.advance(5);
  await write;
}

describe('while a transaction holds an item', () => {
  let pk: string;
  let [a, b, c]: [AnyKey, AnyKey, AnyKey] = keysIn('', 3) as [AnyKey, AnyKey, AnyKey];
  let writing: Promise<void>;
  let holds = 0;
  const hold = async () => {
    pk = `held-${++holds}`;
    [a, b, c] = keysIn(pk, 3) as [AnyKey, AnyKey, AnyKey];
    writing = through.transact([through.counting(a), through.checking(b, 'attribute_not_exists(pk)')]);
    await clock.untilTimers(2);
  };
  const finish = async () => {
    await clock.advance(15);
    await writing;
  };

  it('another transaction is cancelled with TransactionConflict at the positions of the items that both want', async () => {
    await hold();
    await expect(through.transact([through.counting(c), through.counting(a), through.counting(b)])).rejects.toMatchObject(
      cancelledWith('None', 'TransactionConflict', 'TransactionConflict'),
    );
    await finish();
    expect(await through.get(c)).toBeUndefined();
  });

  it('a put, an update and a delete of the item get TransactionConflictException', async () => {
    await hold();
    await expect(through.put({ ...a, count: 9 })).rejects.toMatchObject(singleWriteConflict);
    await expect(through.count(a)).rejects.toMatchObject(singleWriteConflict);
    await expect(through.remove(b)).rejects.toMatchObject(singleWriteConflict);
    await finish();
    expect(await through.get(a)).toEqual({ ...a, count: 1 });
  });

  it('a transaction that reads the item is cancelled with TransactionConflict, and plain reads are answered', async () => {
    await hold();
    await expect(through.transactGet([c, a])).rejects.toMatchObject(cancelledWith('None', 'TransactionConflict'));
    expect(await through.get(a)).toBeUndefined();
    expect((await through.query(pk)).items).toEqual([]);
    expect((await through.batchGet([a, b, c])).items).toEqual([]);
    await finish();
    expect(await through.transactGet([c, a])).toEqual([undefined, { ...a, count: 1 }]);
  });

  it('a batch writes the other items and returns this one in UnprocessedItems', async () => {
    await hold();
    const batch = through.batchPut([
      { ...a, count: 9 },
      { ...c, count: 9 },
    ]);
    await clock.untilTimers(3);
    await clock.advance(15);
    expect(await batch).toEqual({ unprocessed: [{ ...a, count: 9 }] });
    await writing;
    expect(await through.get(c)).toEqual({ ...c, count: 9 });
  });

  it('writes of other items in the same partition are not disturbed', async () => {
    await hold();
    const put = through.put({ ...c, count: 1 });
    const transaction = through.transact([through.counting({ pk, sk: 'other' })]);
    await clock.untilTimers(5);
    await clock.advance(15);
    await Promise.all([put, transaction, writing]);
    expect((await through.query(pk)).items).toHaveLength(3);
  });
});

describe('after a transaction', () => {
  it('the items are free from the moment of its acknowledgement', async () => {
    const [a] = keysIn('after', 1) as [AnyKey];
    const first = through.transact([through.counting(a)]);
    await clock.untilTimers(2);
    await clock.advance(15);
    await first;
    await done(through.count(a));
    expect(await through.get(a)).toEqual({ ...a, count: 2 });
  });

  it('that was cancelled the items are free at once', async () => {
    const [a] = keysIn('after-cancelled', 1) as [AnyKey];
    await expect(through.transact([through.checking(a, 'attribute_exists(pk)')])).rejects.toMatchObject(
      cancelledWith('ConditionalCheckFailed'),
    );
    await done(through.count(a));
    expect(await through.get(a)).toEqual({ ...a, count: 1 });
  });
});

describe('while a single write is under way', () => {
  it('a transaction that reads its item is cancelled, and one that writes it waits for its end', async () => {
    const [a, b, c] = keysIn('single', 3) as [AnyKey, AnyKey, AnyKey];
    const put = through.put({ ...a, count: 1 });
    await clock.untilTimers(1);
    await expect(through.transactGet([b, a])).rejects.toMatchObject(cancelledWith('None', 'TransactionConflict'));
    const transaction = through.transact([through.counting(a), through.counting(c)]);
    const isHeld = () => expect(through.transactGet([c])).rejects.toMatchObject(cancelledWith('TransactionConflict'));
    await vi.waitFor(isHeld, untilTestEnds);
    await clock.advance(5);
    await put;
    await clock.untilTimers(3);
    await clock.advance(15);
    await transaction;
    expect(await through.get(a)).toEqual({ ...a, count: 2 });
  });
});

describe('the figures', () => {
  it('count the transactions that wrote and the calls that met a conflict', async () => {
    const [a] = keysIn('figures', 1) as [AnyKey];
    const before = { ...aws.front.figures };
    const first = through.transact([through.counting(a)]);
    await clock.untilTimers(2);
    await expect(through.count(a)).rejects.toMatchObject(singleWriteConflict);
    await clock.advance(15);
    await first;
    expect(aws.front.figures).toMatchObject({ transactions: before.transactions + 1, conflicts: before.conflicts + 1 });
  });
});
