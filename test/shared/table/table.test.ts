import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/deadline.ts';
import {
  deleteItems,
  getItem,
  getItems,
  incrementFrom,
  queryBetween,
  queryPartition,
  queryPrefix,
  scanNames,
  scanPage,
  updateExisting,
} from '../../../shared/table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../../../shared/table/transaction.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { startProxiedTable } from '../../support/proxied-table.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
});
afterAll(() => embedded.stop());

describe('transact', () => {
  it('throws the error of the action whose condition fails, and writes nothing', async () => {
    const { table } = embedded;
    const taken = { pk: 'a', sk: 'taken' };
    await transact(table, [{ put: { Item: taken } }]);
    const refused = new Error('taken');
    const attempt = transact(table, [
      { put: { Item: { pk: 'a', sk: 'other' } } },
      { put: { Item: taken, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: refused },
    ]);
    await expect(attempt).rejects.toBe(refused);
    expect(await getItem(table, { pk: 'a', sk: 'other' })).toBeUndefined();
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
    await scanNames(table, { number: 0, of: 1 });
    expect(sent).toHaveLength(7);
    for (const input of sent) expect(JSON.stringify(input)).toContain('"ConsistentRead":true');
    await proxied.stop();
  });
});

describe('transact on a busy table', () => {
  it('writes once when a transaction succeeded but was reported as in progress', async () => {
    const proxied = await startProxiedTable({ latencyInMilliseconds: 0 });
    proxied.proxy.inject({ kind: 'still-in-progress', share: 1, times: 3 });
    const update = {
      Key: { pk: 'a', sk: 'count' },
      UpdateExpression: 'ADD #count :one',
      ExpressionAttributeNames: { '#count': 'count' },
      ExpressionAttributeValues: { ':one': 1 },
    };
    await transact(proxied.table, [{ update }]);
    expect(proxied.proxy.faults()).toBe(3);
    expect(await getItem(proxied.direct, update.Key)).toMatchObject({ count: 1 });
    await proxied.stop();
  });
});

describe('transact, tried again,', () => {
  const put = { put: { Item: { pk: 'a', sk: 'token' } } };

  /** The retries of the SDK's default, without its pauses of up to 4 seconds. */
  const retriesAtOnce = new ConfiguredRetryStrategy(3, 0);

  /** The tokens under which a transaction is sent that meets a fault so many times. The SDK itself retries what is in progress. */
  async function tokensSent(kind: 'conflict' | 'still-in-progress', times: number): Promise<unknown[]> {
    const proxied = await startProxiedTable({ latencyInMilliseconds: 0 });
    const tokens: unknown[] = [];
    proxied.table.document.middlewareStack.add(
      (next) => async (sent) => {
        if ('ClientRequestToken' in sent.input) tokens.push(sent.input.ClientRequestToken);
        return await next(sent);
      },
      { step: 'initialize' },
    );
    proxied.table.document.config.retryStrategy = () => Promise.resolve(retriesAtOnce);
    proxied.proxy.inject({ kind, share: 1, times });
    await transact(proxied.table, [put]);
    await proxied.stop();
    return tokens;
  }

  it('sends a cancelled transaction under a new token each time', async () => {
    const tokens = await tokensSent('conflict', 2);
    expect(tokens).toHaveLength(3);
    expect(new Set(tokens).size).toBe(3);
  });

  it('sends a transaction that is still in progress under the token it was first sent with', async () => {
    const tokens = await tokensSent('still-in-progress', 8);
    expect(tokens.length).toBeGreaterThan(1);
    expect(new Set(tokens).size).toBe(1);
  });
});

describe('updateExisting', () => {
  const key = { pk: 'a', sk: 'updated' };
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
    const missing = { pk: 'a', sk: 'missing' };
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

describe('getItems', () => {
  it('reads more than 100 items, in the order of their keys, with undefined for those that are missing', async () => {
    const keys = Array.from({ length: 101 }, (_, index) => ({ pk: 'many', sk: String(index) }));
    const stored = keys.filter((_key, index) => index % 2 === 0);
    await transact(
      embedded.table,
      stored.map((Item) => ({ put: { Item } })),
    );
    const reversed = keys.toReversed();
    expect(await getItems(embedded.table, reversed)).toEqual(reversed.map((key) => (Number(key.sk) % 2 === 0 ? key : undefined)));
  });
});

/** A table whose first answer to a batch leaves one key unprocessed, as a busy partition does, and the pauses that it makes. */
async function aBusyTable(command: 'BatchGet' | 'BatchWrite') {
  const proxied = await startProxiedTable({ latencyInMilliseconds: 0 });
  const { table } = proxied;
  const log: string[] = [];
  class LoggedDeadline extends Deadline {
    override pause(): Promise<void> {
      log.push('pause');
      return Promise.resolve();
    }
  }
  table.document.middlewareStack.add(
    (next, { commandName }) =>
      async (sent) => {
        if (!String(commandName).startsWith(command)) return await next(sent);
        log.push('send');
        if (log.length > 1) return await next(sent);
        const { RequestItems } = sent.input as { RequestItems: Record<string, unknown> };
        const left = { UnprocessedKeys: RequestItems, UnprocessedItems: RequestItems };
        return { output: { ...left, $metadata: {} }, response: {} };
      },
    { step: 'initialize' },
  );
  return { table: { ...table, deadline: () => new LoggedDeadline(untilTestEnds.timeout) }, log, stop: proxied.stop };
}

describe('a batch that DynamoDB leaves unprocessed', () => {
  it('is read again after a pause', async () => {
    const { table, log, stop } = await aBusyTable('BatchGet');
    await transact(table, [{ put: { Item: { pk: 'busy', sk: '1' } } }]);
    expect(await getItems(table, [{ pk: 'busy', sk: '1' }])).toEqual([{ pk: 'busy', sk: '1' }]);
    expect(log).toEqual(['send', 'pause', 'send']);
    await stop();
  });

  it('is deleted again after a pause', async () => {
    const { table, log, stop } = await aBusyTable('BatchWrite');
    await transact(table, [{ put: { Item: { pk: 'busy', sk: '1' } } }]);
    await deleteItems(table, [{ pk: 'busy', sk: '1' }]);
    expect(await getItem(table, { pk: 'busy', sk: '1' })).toBeUndefined();
    expect(log).toEqual(['send', 'pause', 'send']);
    await stop();
  });
});

describe('queryPartition', () => {
  it('returns no more items than its limit when they take more than the megabyte of one page', async () => {
    for (let index = 0; index < 5; index++) {
      await transact(embedded.table, [{ put: { Item: { pk: 'large', sk: String(index), data: 'x'.repeat(390 * 1024) } } }]);
    }
    const found = (limit?: number) => queryPartition(embedded.table, 'large', { limit, attributes: ['sk'] });
    expect(await found(3)).toEqual([{ sk: '0' }, { sk: '1' }, { sk: '2' }]);
    expect(await found()).toHaveLength(5);
  });
});

describe('deleteItems', () => {
  it('deletes more than the 25 items of one request', async () => {
    const keys = Array.from({ length: 51 }, (_, index) => ({ pk: 'deleted', sk: String(index) }));
    await transact(
      embedded.table,
      keys.map((Item) => ({ put: { Item } })),
    );
    await deleteItems(embedded.table, keys.slice(1));
    expect(await queryPartition(embedded.table, 'deleted')).toEqual([keys[0]]);
  });
});

describe('incrementFrom', () => {
  it('returns a different number to every caller', async () => {
    const numbers = await Promise.all(
      Array.from({ length: 20 }, () => incrementFrom(embedded.table, { pk: 'b', sk: 'counter' }, 0)),
    );
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});

describe('withFreshReads', () => {
  it('repeats the decision after a stale read and returns the last answer', async () => {
    let calls = 0;
    const answer = await withFreshReads(embedded.table, () => {
      calls += 1;
      return calls < 3 ? Promise.reject(new StaleReadError()) : Promise.resolve('done');
    });
    expect([answer, calls]).toEqual(['done', 3]);
  });
});
