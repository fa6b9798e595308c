import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startProxiedTable, type ProxiedTable } from './embedded-table.ts';

let proxied: ProxiedTable;
beforeAll(async () => {
  proxied = await startProxiedTable();
});
beforeEach(() => {
  proxied.proxy.inject(undefined);
  proxied.proxy.reset();
});
afterAll(() => proxied.stop());

const Key = { pk: 'a', sk: 'b' };
const get = () => proxied.table.document.send(new GetCommand({ TableName: proxied.table.name, Key, ConsistentRead: true }));
const put = () => proxied.table.document.send(new PutCommand({ TableName: proxied.table.name, Item: Key }));

describe('the DynamoDB proxy', () => {
  it('counts parallel calls as one round trip, and sequential calls as several', async () => {
    await Promise.all([get(), get(), get()]);
    expect(proxied.proxy.sequentialCalls()).toBe(1);
    await get();
    expect([proxied.proxy.sequentialCalls(), proxied.proxy.calls.length]).toEqual([2, 4]);
  });

  it('counts read units and write units separately', async () => {
    await put();
    await get();
    expect([proxied.proxy.readUnits(), proxied.proxy.writeUnits()]).toEqual([1, 1]);
  });

  it('cancels a transaction with the reasons that the SDK reads', async () => {
    proxied.proxy.inject({ kind: 'conflict', share: 1 });
    const puts = [Key, { pk: 'a', sk: 'c' }].map((Item) => ({ Put: { TableName: proxied.table.name, Item } }));
    const refused: unknown = await proxied.table.document
      .send(new TransactWriteCommand({ TransactItems: puts }))
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(TransactionCanceledException);
    expect(refused).toMatchObject({ CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }] });
  });

  it('throttles the given operations the given number of times, and the SDK retries them', async () => {
    proxied.proxy.inject({ kind: 'throttling', share: 1, operations: ['PutItem'], times: 1 });
    await get();
    await put();
    expect(proxied.proxy.calls.map((call) => [call.operation, call.status])).toEqual([
      ['GetItem', 200],
      ['PutItem', 400],
      ['PutItem', 200],
    ]);
  });

  it('executes a call and loses its answer, and the SDK retries it', async () => {
    proxied.proxy.inject({ kind: 'lost-answer', share: 1, times: 1 });
    await put();
    expect(proxied.proxy.calls.map((call) => [call.operation, call.status])).toEqual([
      ['PutItem', 200],
      ['PutItem', 200],
    ]);
  });

  it('drops calls after the given number of calls', async () => {
    proxied.proxy.inject({ kind: 'dropped', share: 1, after: 1, operations: ['PutItem'] });
    await put();
    await expect(put()).rejects.toThrow();
  });

  it('cancels only transactions that use the same item at the same time', async () => {
    proxied.proxy.inject({ kind: 'contention', share: 1, holdInMilliseconds: 500 });
    const write = (sk: string) => ({ Put: { TableName: proxied.table.name, Item: { pk: 'a', sk } } });
    const send = (...sks: string[]) =>
      proxied.table.document.send(new TransactWriteCommand({ TransactItems: sks.map(write) })).catch((error: unknown) => error);
    const answers = await Promise.all([send('x', 'y'), send('z'), send('v', 'y')]);
    expect(answers.map((answer) => answer instanceof TransactionCanceledException)).toEqual([false, false, true]);
    expect(answers[2]).toMatchObject({ CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }] });
    expect(await send('v', 'y')).not.toBeInstanceOf(Error);
  });
});
