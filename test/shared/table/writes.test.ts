import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { writableKey } from '../../../shared/table/keys.ts';
import { getItem, queryPartition } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { deleteItems, putItem, removeAttributes, updateExisting, incrementBy } from '../../../shared/table/writes.ts';
import { startAwsTable } from '../../support/aws-dynamodb/aws-dynamodb.ts';
import { startBusyTable, startEmbeddedTable, startProxiedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

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

describe('removeAttributes', () => {
  it('removes more attributes than one expression of DynamoDB can name', async () => {
    const aws = await startAwsTable({ transactionInMilliseconds: 0, maxAttempts: 1 });
    const key = writableKey('a', 'wide');
    const names = Array.from({ length: 1_000 }, (_, index) => `step${index}`);
    await transact(aws.table, [{ put: { Item: { ...key, kept: 1, ...Object.fromEntries(names.map((name) => [name, 1])) } } }]);
    await removeAttributes(aws.table, key, names);
    expect(await getItem(aws.table, key)).toEqual({ ...key, kept: 1 });
    await aws.stop();
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
