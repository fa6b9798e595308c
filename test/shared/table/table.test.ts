import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { writableKey } from '../../../shared/table/keys.ts';
import { scanPage } from '../../../shared/table/scan.ts';
import { getItem, getItems, queryBetween, queryPartition, queryPrefix } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startBusyTable, startEmbeddedTable, startProxiedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

describe('the client of the table', () => {
  it('has the middleware of the SDK that documentClient removes', () => {
    expect(new DynamoDBClient({ region: 'local' }).middlewareStack.remove('loggerMiddleware')).toBe(true);
  });
});

describe('every read', () => {
  it('is strongly consistent', async () => {
    const proxied = await startProxiedTable({ latencyInMilliseconds: 0 });
    const { table } = proxied;
    const sent: unknown[] = [];
    table.document.middlewareStack.add(
      (next) => async (command) => {
        sent.push(command.input);
        return await next(command);
      },
      { step: 'initialize' },
    );
    const key = { pk: 'a', sk: 'b' };
    await getItem(table, key);
    await getItems(table, [key]);
    await queryPartition(table, 'a');
    await queryPrefix(table, 'a', 'b');
    await queryBetween(table, key, key);
    const filter = { FilterExpression: 'sk = :sk', ExpressionAttributeValues: { ':sk': 'b' } };
    await scanPage(table, { limit: 1, attributes: ['pk'], filter });
    expect(sent).toHaveLength(6);
    for (const input of sent) expect(JSON.stringify(input)).toContain('"ConsistentRead":true');
    await proxied.stop();
  });
});

describe('getItems', () => {
  it('reads more than 100 items, in the order of their keys, with undefined for those that are missing', async () => {
    const keys = Array.from({ length: 101 }, (_, index) => writableKey('many', String(index)));
    const stored = keys.filter((_key, index) => index % 2 === 0);
    await transact(
      embedded.table,
      stored.map((key) => ({ put: { Item: { ...key } } })),
    );
    const reversed = keys.toReversed();
    expect(await getItems(embedded.table, reversed)).toEqual(reversed.map((key) => (Number(key.sk) % 2 === 0 ? key : undefined)));
  });
});

describe('a batch that DynamoDB leaves unprocessed', () => {
  it('is read again after a pause', async () => {
    const { table, log, stop } = await startBusyTable('BatchGet');
    await transact(table, [{ put: { Item: { ...writableKey('busy', '1') } } }]);
    expect(await getItems(table, [{ pk: 'busy', sk: '1' }])).toEqual([{ pk: 'busy', sk: '1' }]);
    expect(log).toEqual(['send', 'pause', 'send']);
    await stop();
  });
});

describe('queryPartition', () => {
  it('returns no more items than its limit when they take more than the megabyte of one page', async () => {
    for (let index = 0; index < 5; index++) {
      await transact(embedded.table, [
        { put: { Item: { ...writableKey('large', String(index)), data: 'x'.repeat(390 * 1024) } } },
      ]);
    }
    const found = (limit?: number) => queryPartition(embedded.table, 'large', { limit, attributes: ['sk'] });
    expect(await found(3)).toEqual([{ sk: '0' }, { sk: '1' }, { sk: '2' }]);
    expect(await found()).toHaveLength(5);
  });
});

describe('a query of more than a megabyte', () => {
  it('has a new deadline for each page in a task, whose operations have one each', async () => {
    const rows = Array.from({ length: 5 }, (_, index) => ({ ...writableKey('large', String(index)), text: 'x'.repeat(300_000) }));
    await transact(
      embedded.table,
      rows.map((Item) => ({ put: { Item } })),
    );
    let deadlines = 0;
    const deadline = () => {
      deadlines += 1;
      return new Deadline();
    };
    expect(await queryPartition({ ...embedded.table, deadline }, 'large')).toHaveLength(rows.length);
    expect(deadlines).toBe(2);
  });
});
