import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAwsTable, type AwsTable } from './aws-dynamodb.ts';
import { commandsOn, keysIn, type TableCommands } from './table-commands.ts';

let aws: AwsTable;
let through: TableCommands;
let direct: TableCommands;
beforeAll(async () => {
  aws = await startAwsTable({ transactionInMilliseconds: 0, maxAttempts: 1 });
  through = commandsOn(aws.table);
  direct = commandsOn(aws.direct);
});
afterAll(() => aws.stop());

const pk = 'quotas';
const kilobytes = (count: number) => 'v'.repeat(count * 1024);
const updating = (Key: object, UpdateExpression: string) => ({
  TableName: aws.table.name,
  Key: Key as Record<string, unknown>,
  UpdateExpression,
  ExpressionAttributeValues: { ':value': kilobytes(1) },
});
const longExpression = `SET ${Array.from({ length: 300 }, (_, index) => `attribute_${index} = :value`).join(', ')}`;
const itemIsTooLarge = 'Item size has exceeded the maximum allowed size';
const sortKeyIsTooLong =
  'One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes';
const partitionKeyIsTooLong =
  'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes';

const refused: [what: string, call: () => Promise<unknown>, message: string | RegExp][] = [
  ['a transaction without actions', () => through.transact([]), /length greater than or equal to 1$/],
  [
    'a transaction of 101 actions',
    () => through.transact(keysIn(pk, 101).map(through.counting)),
    /length less than or equal to 100$/,
  ],
  [
    'a transaction that names an item twice',
    () => through.transact([through.counting({ pk, sk: 'a' }), through.checking({ pk, sk: 'a' }, 'attribute_not_exists(pk)')]),
    'Transaction request cannot include multiple operations on one item',
  ],
  [
    'a transaction of more than 4 MB',
    () => through.transact(keysIn(pk, 11).map((key) => through.putting({ ...key, value: kilobytes(399) }))),
    /the aggregate size of the items in the transaction exceeding the 4MB limit$/,
  ],
  ['a put of more than 400 KB', () => through.put({ pk, sk: 'a', value: kilobytes(400) }), itemIsTooLarge],
  [
    'a put of more than 400 KB in a transaction',
    () => through.transact([through.putting({ pk, sk: 'a', value: kilobytes(400) })]),
    itemIsTooLarge,
  ],
  ['a put of more than 400 KB in a batch', () => through.batchPut([{ pk, sk: 'a', value: kilobytes(400) }]), itemIsTooLarge],
  ['a batch of 26 puts', () => through.batchPut(keysIn(pk, 26)), /length less than or equal to 25$/],
  [
    'a batch that puts an item twice',
    () =>
      through.batchPut([
        { pk, sk: 'a' },
        { pk, sk: 'a' },
      ]),
    'Provided list of item keys contains duplicates',
  ],
  ['a batch of 101 keys', () => through.batchGet(keysIn(pk, 101)), 'Too many items requested for the BatchGetItem call'],
  [
    'a batch that gets an item twice',
    () =>
      through.batchGet([
        { pk, sk: 'a' },
        { pk, sk: 'a' },
      ]),
    'Provided list of item keys contains duplicates',
  ],
  ['a request of more than 16 MB', () => through.put({ pk, sk: 'a', value: kilobytes(16 * 1024) }), /16 MB/],
  ['a sort key of 1,025 bytes', () => through.put({ pk, sk: 'ä'.repeat(512) + 'b' }), sortKeyIsTooLong],
  [
    'a sort key of 1,025 bytes in a transaction',
    () => through.transact([through.counting({ pk, sk: 's'.repeat(1025) })]),
    sortKeyIsTooLong,
  ],
  ['a partition key of 2,049 bytes', () => through.get({ pk: 'p'.repeat(2049), sk: 'a' }), partitionKeyIsTooLong],
  [
    'a partition key of 2,049 bytes in a batch',
    () => through.batchGet([{ pk: 'p'.repeat(2049), sk: 'a' }]),
    partitionKeyIsTooLong,
  ],
  [
    'an expression of more than 4 KB',
    () => aws.table.document.send(new UpdateCommand(updating({ pk, sk: 'a' }, longExpression))),
    /^Invalid UpdateExpression: Expression size has exceeded the maximum allowed size; expression size: \d{4}$/,
  ],
  [
    'an expression of more than 4 KB in a transaction',
    () => through.transact([{ Update: updating({ pk, sk: 'a' }, longExpression) }]),
    /^Invalid UpdateExpression: Expression size has exceeded/,
  ],
];

describe('a quota', () => {
  it.each(refused)('refuses %s with a ValidationException', async (_, call, message) => {
    await expect(call()).rejects.toMatchObject({
      name: 'ValidationException',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
    expect((await direct.query(pk)).items).toEqual([]);
  });

  it('cancels a transaction whose update makes an item larger than 400 KB', async () => {
    const key = { pk: 'growing', sk: 'a' };
    await direct.put({ ...key, value: kilobytes(399) });
    const growth = { Update: updating(key, 'SET more = :value') };
    await expect(through.transact([through.counting({ pk: 'growing', sk: 'b' }), growth])).rejects.toMatchObject({
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'ValidationError', Message: 'Item size to update has exceeded the maximum allowed size' },
      ],
    });
    expect((await direct.query('growing')).items).toHaveLength(1);
  });

  it('lets 100 actions, 25 puts, 100 keys and the longest keys through', async () => {
    const keys = keysIn('fits', 100);
    await through.transact(keys.map(through.counting));
    expect((await through.batchGet(keys)).items).toHaveLength(100);
    await through.batchPut(keysIn('fits batch', 25));
    expect((await through.query('fits batch')).items).toHaveLength(25);
    const longest = { pk: 'p'.repeat(2048), sk: 's'.repeat(1024) };
    await through.put({ ...longest, value: kilobytes(396) });
    expect(await through.get(longest)).toMatchObject(longest);
  });

  it('ends the answer of a batch at 16 MB and returns the other keys in UnprocessedKeys', async () => {
    const keys = keysIn('sixteen', 45);
    const large = keys.map((key) => ({ ...key, value: kilobytes(399) }));
    await direct.batchPut(large.slice(0, 25));
    await direct.batchPut(large.slice(25));
    const { items, unprocessed } = await through.batchGet(keys);
    expect([items.length, unprocessed.length]).toEqual([41, 4]);
  });
});
