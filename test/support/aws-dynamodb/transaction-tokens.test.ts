import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyKey } from '../../../shared/table/keys.ts';
import { startAwsTable, type AwsTable } from './aws-dynamodb.ts';
import { commandsOn, keysIn, type TableCommands } from './table-commands.ts';
import { testClock, type TestClock } from '../test-clock.ts';

const tenMinutes = 10 * 60 * 1000;

let clock: TestClock;
let aws: AwsTable;
let through: TableCommands;
beforeAll(async () => {
  clock = testClock({ start: 0, speed: 0 });
  aws = await startAwsTable({ clock, maxAttempts: 1 });
  through = commandsOn(aws.table);
});
afterAll(() => aws.stop());

async function acknowledged(key: AnyKey, token: string): Promise<void> {
  const writing = through.transact([through.counting(key)], token);
  await clock.untilTimers(2);
  await clock.advance(15);
  await writing;
}

describe('a client request token', () => {
  const [first, second, third, fourth] = keysIn('tokens', 4) as [AnyKey, AnyKey, AnyKey, AnyKey];

  it('of an acknowledged transaction is answered with success for ten minutes, without writing again', async () => {
    await acknowledged(first, 'token-1');
    await through.transact([through.counting(first)], 'token-1');
    await clock.advance(tenMinutes);
    await through.transact([through.counting(first)], 'token-1');
    expect(await through.get(first)).toMatchObject({ count: 1 });
  });

  it('is free again after ten minutes, and the transaction is written again', async () => {
    await acknowledged(second, 'token-2');
    await clock.advance(tenMinutes + 1);
    await acknowledged(second, 'token-2');
    expect(await through.get(second)).toMatchObject({ count: 2 });
  });

  it('with other parameters gets IdempotentParameterMismatchException', async () => {
    await acknowledged(third, 'token-3');
    await expect(through.transact([through.counting(fourth)], 'token-3')).rejects.toMatchObject({
      name: 'IdempotentParameterMismatchException',
    });
    expect(await through.get(fourth)).toBeUndefined();
  });

  it('of a transaction in flight gets TransactionInProgressException', async () => {
    const writing = through.transact([through.counting(fourth)], 'token-4');
    await clock.untilTimers(2);
    await expect(through.transact([through.counting(fourth)], 'token-4')).rejects.toMatchObject({
      name: 'TransactionInProgressException',
    });
    await clock.advance(15);
    await writing;
    expect(await through.get(fourth)).toMatchObject({ count: 1 });
  });

  it('of a cancelled transaction is free at once', async () => {
    const key = { pk: 'tokens', sk: 'cancelled' };
    const transaction = [through.checking(key, 'attribute_exists(pk)')];
    await expect(through.transact(transaction, 'token-5')).rejects.toMatchObject({ name: 'TransactionCanceledException' });
    await commandsOn(aws.direct).put(key);
    const writing = through.transact(transaction, 'token-5');
    await clock.untilTimers(1);
    await clock.advance(15);
    await expect(writing).resolves.toBeUndefined();
  });
});
