import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getItem, increment } from '../../../shared/table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../../../shared/table/transaction.ts';
import { startProxiedTable } from '../../support/proxied-table.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
});
afterAll(() => embedded.stop());

describe('transact', () => {
  it('throws the error of the action whose condition does not hold, and writes nothing', async () => {
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

describe('transact, through a table that is busy,', () => {
  it('writes once what was carried out though it heard that it was in progress', async () => {
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

describe('increment', () => {
  it('gives every caller a number of its own', async () => {
    const numbers = await Promise.all(Array.from({ length: 20 }, () => increment(embedded.table, { pk: 'b', sk: 'counter' })));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});

describe('withFreshReads', () => {
  it('decides again after a stale read and returns the later answer', async () => {
    let calls = 0;
    const answer = await withFreshReads(embedded.table, () => {
      calls += 1;
      return calls < 3 ? Promise.reject(new StaleReadError()) : Promise.resolve('done');
    });
    expect([answer, calls]).toEqual(['done', 3]);
  });
});
