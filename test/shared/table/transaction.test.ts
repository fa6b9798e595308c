import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { describe, expect, it } from 'vitest';
import { writableKey } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { StaleReadError, withFreshReads } from '../../../shared/table/fresh-reads.ts';
import { transact, Transaction } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable, startProxiedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const put = (sk: number, more = {}) => ({ put: { Item: { ...writableKey('p', String(sk)), ...more } } });

describe('Transaction', () => {
  it('takes 100 actions, counts down how many are left, and throws a TypeError for one more', () => {
    const transaction = new Transaction();
    expect(transaction.actionsLeft).toBe(100);
    for (let index = 0; index < 100; index++) transaction.add(put(index));
    expect(transaction.actionsLeft).toBe(0);
    expect(() => transaction.add(put(100))).toThrow(TypeError);
  });

  it.each([
    ['text', 'x'],
    ['bytes', new Uint8Array(1)],
  ])('takes less than 4 MB of %s and throws a TypeError for more', (_what, unit) => {
    const kilobytes = (count: number) => (typeof unit === 'string' ? unit.repeat(count * 1024) : new Uint8Array(count * 1024));
    const transaction = new Transaction();
    for (let index = 0; index < 10; index++) transaction.add(put(index, { data: kilobytes(400) }));
    expect(() => transaction.add(put(10, { data: kilobytes(95) }))).not.toThrow();
    expect(() => transaction.add(put(11, { data: kilobytes(2) }))).toThrow(TypeError);
  });

  it('counts the members of sets', () => {
    const transaction = new Transaction();
    const members = (count: number) => new Set(Array.from({ length: count }, (_, index) => `${index} `.padEnd(1024, 'x')));
    for (let index = 0; index < 10; index++) transaction.add(put(index, { members: members(400) }));
    expect(() => transaction.add(put(10, { members: members(100) }))).toThrow(TypeError);
  });

  it('counts the values of updates', () => {
    const transaction = new Transaction();
    const update = (sk: number) => ({
      update: {
        Key: writableKey('p', String(sk)),
        UpdateExpression: 'SET data = :data',
        ExpressionAttributeValues: { ':data': 'x'.repeat(3 * 1024 * 1024) },
      },
    });
    transaction.add(update(1));
    expect(() => transaction.add(update(2))).toThrow(TypeError);
  });

  it('throws a TypeError for a second action on one item, whatever they are', () => {
    const transaction = new Transaction();
    transaction.add(put(1), { delete: { Key: writableKey('p', '2') } });
    expect(() => transaction.add({ check: { Key: writableKey('p', '1'), ConditionExpression: 'a = b' } })).toThrow(TypeError);
    expect(() => transaction.add(put(2))).toThrow(TypeError);
  });
});

describe('transact', () => {
  it('throws the error of the action whose condition fails, and writes nothing', async () => {
    const { table } = embedded;
    const taken = { ...writableKey('a', 'taken') };
    await transact(table, [{ put: { Item: taken } }]);
    const refused = new Error('taken');
    const attempt = transact(table, [
      { put: { Item: { ...writableKey('a', 'other') } } },
      { put: { Item: taken, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: refused },
    ]);
    await expect(attempt).rejects.toBe(refused);
    expect(await getItem(table, { pk: 'a', sk: 'other' })).toBeUndefined();
  });
});

describe('transact on a busy table', () => {
  it('writes once when a transaction succeeded but was reported as in progress', async () => {
    const proxied = await startProxiedTable({ latencyInMilliseconds: 0 });
    proxied.proxy.inject({ kind: 'still-in-progress', share: 1, times: 3 });
    const update = {
      Key: writableKey('a', 'count'),
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

describe('a retry of transact', () => {
  const put = { put: { Item: { ...writableKey('a', 'token') } } };

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
    (proxied.table.document as DynamoDBDocumentClient).config.retryStrategy = () => Promise.resolve(retriesAtOnce);
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
