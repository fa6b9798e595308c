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

describe('increment', () => {
  it('returns a different number to every caller', async () => {
    const numbers = await Promise.all(Array.from({ length: 20 }, () => increment(embedded.table, { pk: 'b', sk: 'counter' })));
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
