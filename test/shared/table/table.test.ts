import { DynamoDBClient, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { writableKey } from '../../../shared/table/keys.ts';
import { scan } from '../../../shared/table/scan.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { deleteItems, incrementBy, putItem, updateExisting } from '../../../shared/table/writes.ts';
import { startBusyTable, startEmbeddedTable, startProxiedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { parseStored } from '../../../shared/table/stored.ts';
import { getItem, getItems, queryBetween, queryPartition, queryPrefix } from '../../../shared/table/table.ts';

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));

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
    await scan(table, { attributes: ['pk'], filter }).next();
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

describe('putItem', () => {
  it('leaves out entries that are undefined', async () => {
    const key = writableKey('a', 'put');
    await putItem(embedded.table, { ...key, name: undefined, details: { text: undefined } });
    expect(await getItem(embedded.table, key)).toStrictEqual({ ...key, details: {} });
  });
});

describe('updateExisting', () => {
  const key = writableKey('a', 'updated');
  const naming = (name: string) => ({
    UpdateExpression: 'SET #name = :name',
    ExpressionAttributeNames: { '#name': 'name' },
    ExpressionAttributeValues: { ':name': name },
  });

  it('returns the whole item after the update', async () => {
    await transact(embedded.table, [{ put: { Item: { ...key, other: 1 } } }]);
    expect(await updateExisting(embedded.table, key, naming('new'))).toEqual({ ...key, other: 1, name: 'new' });
  });

  it('returns undefined for a missing item, and does not create it', async () => {
    const missing = writableKey('a', 'missing');
    expect(await updateExisting(embedded.table, missing, naming('new'))).toBeUndefined();
    expect(await getItem(embedded.table, missing)).toBeUndefined();
  });

  it('throws an error that a retry cannot fix', async () => {
    const invalid = { UpdateExpression: 'SET' };
    await expect(updateExisting(embedded.table, key, invalid)).rejects.toMatchObject({ name: 'ValidationException' });
  });

  it('throws unavailable when a transaction holds the item until the deadline', async () => {
    const proxied = await startProxiedTable({ latencyInMilliseconds: 0 });
    const held = new TransactionConflictException({ message: 'Transaction is ongoing for the item', $metadata: {} });
    proxied.table.document.middlewareStack.add(() => () => Promise.reject(held), { step: 'initialize' });
    const hurried = { ...proxied.table, deadline: () => new Deadline(100) };
    await expect(updateExisting(hurried, key, naming('new'))).rejects.toMatchObject({ code: 'unavailable', cause: held });
    await proxied.stop();
  });
});

describe('deleteItems', () => {
  it('deletes more than the 25 items of one request', async () => {
    const keys = Array.from({ length: 51 }, (_, index) => writableKey('deleted', String(index)));
    await transact(
      embedded.table,
      keys.map((key) => ({ put: { Item: { ...key } } })),
    );
    await deleteItems(embedded.table, keys.slice(1));
    expect(await queryPartition(embedded.table, 'deleted')).toEqual([keys[0]]);
  });

  it('deletes again, after a pause, what DynamoDB leaves unprocessed', async () => {
    const { table, log, stop } = await startBusyTable('BatchWrite');
    const key = writableKey('busy', '1');
    await transact(table, [{ put: { Item: { ...key } } }]);
    await deleteItems(table, [key]);
    expect(await getItem(table, key)).toBeUndefined();
    expect(log).toEqual(['send', 'pause', 'send']);
    await stop();
  });
});

describe('incrementBy', () => {
  it('begins at 0, and returns a different number to every caller', async () => {
    const key = writableKey('a', 'counter');
    const numbers = await Promise.all(Array.from({ length: 20 }, () => incrementBy(embedded.table, key, 1)));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(await incrementBy(embedded.table, key, 5)).toBe(25);
  });
});

describe('parseStored', () => {
  const schema = v.object({ run: v.object({ number: v.number() }) });

  it('returns the fields of the schema', () => {
    expect(parseStored(schema, { run: { number: 1 }, pk: 'p' }, 'note')).toEqual({ run: { number: 1 } });
  });

  it('throws an error that says what was stored, and which field does not fit', () => {
    expect(() => parseStored(schema, { run: { number: '1' } }, 'note')).toThrow('A stored note does not fit: run.number: ');
  });

  it('names the item if it does not fit as a whole', () => {
    const refused = v.pipe(
      v.looseObject({}),
      v.check(() => false, 'Refused.'),
    );
    expect(() => parseStored(refused, {}, 'note')).toThrow('A stored note does not fit: item: Refused.');
  });
});
