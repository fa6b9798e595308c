import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyKey } from '../../../shared/table/keys.ts';
import { startAwsTable, type AwsTable } from './aws-dynamodb.ts';
import { commandsOn, keysIn, type TableCommands } from './table-commands.ts';
import { testClock, type TestClock } from '../test-clock.ts';

let clock: TestClock;
let aws: AwsTable;
let through: TableCommands;
beforeAll(async () => {
  clock = testClock({ start: 0, speed: 0 });
  aws = await startAwsTable({ clock, seed: 7, maxAttempts: 1 });
  through = commandsOn(aws.table);
});
afterAll(() => aws.stop());

/** The places of the items that show what the transaction wrote. */
type Sight = (keys: AnyKey[]) => Promise<number[]>;
const newOnes = (keys: AnyKey[], items: ({ [name: string]: unknown } | undefined)[]) =>
  keys.flatMap((key, index) => (items.find((item) => item?.['sk'] === key.sk)?.['count'] === 1 ? [index] : []));
const reads: Record<string, Sight> = {
  GetItem: async (keys) => newOnes(keys, await Promise.all(keys.map((key) => through.get(key)))),
  BatchGetItem: async (keys) => newOnes(keys, (await through.batchGet(keys)).items),
  Query: async (keys) => newOnes(keys, (await through.query(String(keys[0]?.pk))).items),
};

describe('a plain read while a transaction is in flight', () => {
  it.each(Object.keys(reads))(
    'sees one more item with each reveal by %s, in another order than written, and never loses one',
    async (name) => {
      const read = reads[name] ?? (() => Promise.reject(new Error(name)));
      const keys = keysIn(`reads by ${name}`, 6);
      const writing = through.transact(keys.map(through.counting));
      await clock.untilTimers(keys.length + 1);
      const sights = [await read(keys)];
      for (const _ of keys) {
        await clock.advanceToNext();
        sights.push(await read(keys));
      }
      expect(sights.map((sight) => sight.length)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      for (const [index, sight] of sights.entries()) expect(sights[index + 1] ?? sight).toEqual(expect.arrayContaining(sight));
      const order = sights.slice(1).map((sight, index) => sight.find((place) => !sights[index]?.includes(place)));
      expect(order).not.toEqual([0, 1, 2, 3, 4, 5]);
      await clock.advanceToNext();
      await writing;
      expect(await read(keys)).toHaveLength(6);
    },
  );

  it('sees puts, updates and deletes of one transaction appear one by one, and all of them after the acknowledgement', async () => {
    const pk = 'kinds';
    const [a, b, c, d] = keysIn(pk, 4) as [AnyKey, AnyKey, AnyKey, AnyKey];
    for (const key of [b, c, d]) await through.put({ ...key, count: 0 });
    const writing = through.transact([
      through.putting({ ...a, count: 1 }),
      through.counting(b),
      through.removing(c),
      through.checking(d, 'attribute_exists(pk)'),
    ]);
    await clock.untilTimers(4);
    const changed = async () => {
      const { items } = await through.query(pk);
      const counts = [a, b, c, d].map((key) => items.find((item) => item['sk'] === key.sk)?.['count']);
      return counts.filter((count, index) => count !== [undefined, 0, 0, 0][index]).length;
    };
    const sights = [await changed()];
    for (let reveal = 0; reveal < 3; reveal++) {
      await clock.advanceToNext();
      sights.push(await changed());
    }
    expect(sights).toEqual([0, 1, 2, 3]);
    await clock.advanceToNext();
    await writing;
    expect((await through.query(pk)).items).toEqual([
      { ...a, count: 1 },
      { ...b, count: 1 },
      { ...d, count: 0 },
    ]);
  });

  it('sees nothing of a transaction that a condition, or a value of the wrong type, cancels', async () => {
    const [a, b] = keysIn('cancelled', 2) as [AnyKey, AnyKey];
    await through.put({ ...b, count: 'text' });
    await expect(through.transact([through.counting(a), through.checking(b, 'attribute_not_exists(pk)')])).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
    });
    await expect(through.transact([through.counting(a), through.counting(b)])).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'None' }, { Code: 'ValidationError' }],
    });
    expect((await through.query('cancelled')).items).toEqual([{ ...b, count: 'text' }]);
  });
});

describe('reads during many transactions', () => {
  it('never go back, never miss what was acknowledged, and see no part of a transaction in TransactGetItems', async () => {
    const real = await startAwsTable({ transactionInMilliseconds: 4, seed: 11, maxAttempts: 1 });
    const commands = commandsOn(real.table);
    const keys = keysIn('counted', 4);
    const acknowledged = { count: 0 };
    let isOver = false;
    const countsOf = (items: ({ [name: string]: unknown } | undefined)[]) =>
      keys.map((key) => Number(items.find((item) => item?.['sk'] === key.sk)?.['count'] ?? 0));
    const partial = { reads: 0 };
    const follow = async (read: () => Promise<number[]>) => {
      let last = keys.map(() => 0);
      while (!isOver) {
        const least = acknowledged.count;
        const counts = await read();
        for (const [index, count] of counts.entries()) expect(count).toBeGreaterThanOrEqual(Math.max(least, last[index] ?? 0));
        if (new Set(counts).size > 1) partial.reads++;
        last = counts;
      }
    };
    const whole = async () => {
      while (!isOver) {
        const counts = await commands.transactGet(keys).then(countsOf, () => undefined);
        if (counts) expect(new Set(counts).size).toBe(1);
      }
    };
    const write = async () => {
      const { figures } = real.front;
      while (acknowledged.count < 10 || partial.reads < 5 || figures.readsOfPartlyVisible === 0) {
        await commands.transact(keys.map(commands.counting));
        acknowledged.count++;
      }
      isOver = true;
    };
    try {
      await Promise.all([
        write(),
        whole(),
        follow(async () => countsOf((await commands.query('counted')).items)),
        follow(async () => countsOf((await commands.batchGet(keys)).items)),
      ]);
    } finally {
      await real.stop();
    }
  });
});
