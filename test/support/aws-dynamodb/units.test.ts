import { GetCommand, PutCommand, QueryCommand, ScanCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AnyKey } from '../../../shared/table/keys.ts';
import { startAwsTable, type AwsTable } from './aws-dynamodb.ts';
import { seededRandom } from '../seeded-random.ts';
import { commandsOn, keysIn, type TableCommands } from './table-commands.ts';
import { unitLimitsOfAws } from './limits.ts';
import { testClock, type TestClock } from '../test-clock.ts';

const kilobytes = (count: number) => 'v'.repeat(count * 1024);

let clock: TestClock;
let aws: AwsTable;
let through: TableCommands;
let direct: TableCommands;

async function open(limits?: typeof unitLimitsOfAws): Promise<void> {
  clock = testClock({ start: 0, speed: 0 });
  aws = await startAwsTable({ clock, maxAttempts: 1, ...(limits && { limits }) });
  through = commandsOn(aws.table);
  direct = commandsOn(aws.direct);
}

async function acknowledged<T>(writing: Promise<T>, timers: number): Promise<T> {
  await clock.untilTimers(timers);
  await clock.advance(15);
  return await writing;
}

describe('the units', () => {
  beforeAll(() => open());
  beforeEach(() => aws.front.units.reset());
  afterAll(() => aws.stop());
  const unitsOf = (pk: string) => aws.front.units.of(pk);

  it('of a write are one for each kilobyte of the larger item, before or after, under its partition key', async () => {
    await through.put({ pk: 'writes', sk: 'a', value: kilobytes(2) });
    expect(unitsOf('writes')).toEqual({ read: 0, write: 3 });
    await through.count({ pk: 'writes', sk: 'a' });
    expect(unitsOf('writes').write).toBe(6);
    await through.remove({ pk: 'writes', sk: 'a' });
    await through.remove({ pk: 'writes', sk: 'a' });
    expect(unitsOf('writes').write).toBe(10);
    await through.batchPut([
      { pk: 'writes', sk: 'b' },
      { pk: 'other writes', sk: 'c', value: kilobytes(1) },
    ]);
    expect(aws.front.units.byPartitionKey()).toEqual([
      ['writes', { read: 0, write: 11 }],
      ['other writes', { read: 0, write: 2 }],
    ]);
  });

  it('of a write whose condition fails are those of the item that is there', async () => {
    const item = { pk: 'condition', sk: 'a', value: kilobytes(2) };
    await direct.put(item);
    const put = new PutCommand({
      TableName: aws.table.name,
      Item: { pk: 'condition', sk: 'a' },
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    await expect(aws.table.document.send(put)).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
    expect(unitsOf('condition').write).toBe(3);
  });

  it('of a transaction are twice those of its writes, and once when a condition cancels it', async () => {
    const [a, b, c] = keysIn('transaction', 3) as [AnyKey, AnyKey, AnyKey];
    await direct.put({ ...b, value: kilobytes(1) });
    await acknowledged(
      through.transact([
        through.putting({ ...a, value: kilobytes(2) }),
        through.removing(b),
        through.checking(c, 'attribute_not_exists(pk)'),
      ]),
      3,
    );
    expect(unitsOf('transaction').write).toBe(2 * (3 + 2 + 1));
    aws.front.units.reset();
    await expect(through.transact([through.checking(a, 'attribute_not_exists(pk)'), through.putting(b)])).rejects.toThrow();
    expect(unitsOf('transaction').write).toBe(3 + 1);
  });

  it('of a transaction are those that the engine reports, for items of any shape', async () => {
    const random = seededRandom(5);
    const number = () => (random() - 0.5) * 10 ** Math.floor(random() * 12);
    const TransactItems = keysIn('shapes', 20).map((key) => ({
      Put: {
        TableName: aws.table.name,
        Item: {
          ...key,
          numbers: Array.from({ length: Math.floor(random() * 200) }, number),
          map: { text: 'ä'.repeat(random() * 900), flag: true, none: null },
          set: new Set(Array.from({ length: 1 + Math.floor(random() * 90) }, (_, index) => index)),
          bytes: new Uint8Array(random() * 700),
        },
      },
    }));
    const transaction = new TransactWriteCommand({ TransactItems, ReturnConsumedCapacity: 'TOTAL' });
    const ours = await acknowledged(aws.table.document.send(transaction), TransactItems.length + 1);
    for (const key of keysIn('shapes', 20)) await direct.remove(key);
    const engines = await aws.direct.document.send(
      new TransactWriteCommand({ ...transaction.input, ClientRequestToken: 'again' }),
    );
    const units = engines.ConsumedCapacity?.[0]?.CapacityUnits;
    expect(units).toBeGreaterThan(80);
    expect([ours.ConsumedCapacity?.[0]?.CapacityUnits, unitsOf('shapes').write]).toEqual([units, units]);
  });

  it('of a repeated transaction are those of reading its items', async () => {
    const item = { pk: 'repeated', sk: 'a', value: kilobytes(5) };
    await acknowledged(through.transact([through.putting(item)], 'once'), 2);
    aws.front.units.reset();
    await through.transact([through.putting(item)], 'once');
    expect(unitsOf('repeated')).toEqual({ read: 4, write: 0 });
  });

  it('of reads are one for each 4 KB: by item for items, by page for queries, twice in transactions, half where stale reads do', async () => {
    const keys = keysIn('reads', 10);
    for (const key of keys) await direct.put({ ...key, value: kilobytes(1) });
    const { name: TableName, document } = aws.table;
    const costOf = async (read: () => Promise<unknown>) => {
      aws.front.units.reset();
      await read();
      return unitsOf('reads').read;
    };
    const [first] = keys as [AnyKey];
    const stale = { TableName, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': 'reads' } };
    expect({
      get: await costOf(() => through.get(first)),
      missing: await costOf(() => through.get({ pk: 'reads', sk: 'none' })),
      staleGet: await costOf(() => document.send(new GetCommand({ TableName, Key: first }))),
      batchGet: await costOf(() => through.batchGet(keys)),
      transactGet: await costOf(() => through.transactGet(keys)),
      query: await costOf(() => through.query('reads')),
      projected: await costOf(() => through.query('reads', { ProjectionExpression: 'pk, sk' })),
      filtered: await costOf(() => through.query('reads', { FilterExpression: 'attribute_exists(lacking)' })),
      staleQuery: await costOf(() => document.send(new QueryCommand(stale))),
      emptyQuery: await costOf(() => through.query('reads', { Limit: 1, ExclusiveStartKey: keys.at(-1) })),
    }).toEqual({
      get: 1,
      missing: 1,
      staleGet: 0.5,
      batchGet: 10,
      transactGet: 20,
      query: 3,
      projected: 3,
      filtered: 3,
      staleQuery: 1.5,
      emptyQuery: 1,
    });
  });

  it('of a scan are counted in the total, under no partition key', async () => {
    await aws.table.document.send(new ScanCommand({ TableName: aws.table.name, Limit: 1 }));
    expect([aws.front.units.byPartitionKey(), aws.front.units.total()]).toEqual([
      [['scan', { read: 0.5, write: 0 }]],
      { read: 0.5, write: 0 },
    ]);
  });
});

describe('the limit of a partition key', () => {
  beforeAll(() => open({ readUnitsPerSecond: 10, writeUnitsPerSecond: 10, burstInSeconds: 1 }));
  beforeEach(() => clock.advance(60_000));
  afterAll(() => aws.stop());
  const throttled = { name: 'ThrottlingException' };
  const exhaustWrites = (pk: string) => through.put({ pk, sk: 'large', value: kilobytes(10) });

  it('refuses single writes of that key alone, until its bucket holds a unit again', async () => {
    for (const key of keysIn('hot', 10)) await through.put(key);
    for (const write of [through.put, through.count, through.remove])
      await expect(write({ pk: 'hot', sk: 'more' })).rejects.toMatchObject({
        ...throttled,
        throttlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded' }],
      });
    await through.put({ pk: 'cold', sk: 'a' });
    await clock.advance(100);
    await through.put({ pk: 'hot', sk: 'more' });
    await expect(through.put({ pk: 'hot', sk: 'more' })).rejects.toMatchObject(throttled);
  });

  it('cancels transactions with ThrottlingError at the positions of that key, and they cost nothing', async () => {
    await exhaustWrites('hot transaction');
    const before = aws.front.units.of('cold');
    const transaction = [through.counting({ pk: 'cold', sk: 'b' }), through.counting({ pk: 'hot transaction', sk: 'b' })];
    await expect(through.transact(transaction)).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'None' }, { Code: 'ThrottlingError' }],
    });
    expect(aws.front.units.of('cold')).toEqual(before);
    await clock.advance(1000);
    await acknowledged(through.transact(transaction), 3);
    expect(await through.get({ pk: 'hot transaction', sk: 'b' })).toMatchObject({ count: 1 });
  });

  it('leaves writes of that key unprocessed in a batch, and refuses a batch of nothing else', async () => {
    await exhaustWrites('hot batch');
    const [hot, cold] = [
      { pk: 'hot batch', sk: 'a' },
      { pk: 'cold batch', sk: 'a' },
    ];
    expect(await through.batchPut([hot, cold])).toEqual({ unprocessed: [hot] });
    expect([await direct.get(hot), await direct.get(cold)]).toEqual([undefined, cold]);
    await expect(through.batchPut([hot])).rejects.toMatchObject(throttled);
  });

  it('refuses reads of that key, cancels their transactions, and leaves its keys unprocessed in a batch', async () => {
    const [hot, cold] = [
      { pk: 'hot reads', sk: 'large' },
      { pk: 'cold reads', sk: 'a' },
    ];
    await direct.put({ ...hot, value: kilobytes(40) });
    await direct.put(cold);
    await through.get(hot);
    await expect(through.get(hot)).rejects.toMatchObject(throttled);
    await expect(through.query('hot reads')).rejects.toMatchObject(throttled);
    await expect(through.transactGet([cold, hot])).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'None' }, { Code: 'ThrottlingError' }],
    });
    expect(await through.batchGet([hot, cold])).toEqual({ items: [cold], unprocessed: [hot] });
    await expect(through.batchGet([hot])).rejects.toMatchObject(throttled);
    await through.put({ pk: 'hot reads', sk: 'writes have a bucket of their own' });
    expect(aws.front.units.throttled()).toBeGreaterThanOrEqual(5);
  });
});

describe('the limits of AWS', () => {
  beforeAll(() => open(unitLimitsOfAws));
  afterAll(() => aws.stop());

  it('let 1,000 write units a second through, paid by what the writes turn out to cost', async () => {
    const large = (sk: string) => through.put({ pk: 'hot', sk, value: kilobytes(399) });
    for (const sk of ['a', 'b', 'c']) await large(sk);
    expect(aws.front.units.of('hot').write).toBe(1200);
    await expect(large('d')).rejects.toMatchObject({ name: 'ThrottlingException' });
    await clock.advance(200);
    await expect(large('d')).rejects.toMatchObject({ name: 'ThrottlingException' });
    await clock.advance(10);
    await large('d');
  });
});
