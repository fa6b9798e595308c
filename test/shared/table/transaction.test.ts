import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { describe, expect, it } from 'vitest';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { writableKey } from '../../../shared/table/keys.ts';
import { type Table, getItem } from '../../../shared/table/table.ts';
import {
  type Action,
  type AnswerKeeper,
  AnswerKeptError,
  commitChange,
  transact,
  Transaction,
  readSettled,
  StaleReadError,
  withFreshReads,
} from '../../../shared/table/transaction.ts';
import { addHalfLinks, anAsset, byAlice, startStores } from '../../support/builders-store.ts';
import { startEmbeddedTable, startProxiedTable } from '../../support/embedded-table.ts';
import { scan } from '../../support/inconsistencies.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));

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

  /** The SDK's default retries, without their pauses of up to 4 seconds. */
  const retriesAtOnce = new ConfiguredRetryStrategy(3, 0);

  /**
   * Returns the tokens under which a transaction is sent that meets a fault so many times. The SDK itself retries a transaction
   * in progress.
   */
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

/** Returns a check of an item that does not exist, with an error that names it. */
const failing = (name: string): Action => ({
  check: { Key: writableKey(name, name), ConditionExpression: 'attribute_exists(pk)' },
  otherwise: new Error(`${name} is missing.`),
});

describe('an action that is added first', () => {
  it('decides which error is thrown when the conditions of others do not hold either', async () => {
    const transaction = new Transaction();
    transaction.add(failing('a'), failing('b'));
    await expect(transaction.commit(embedded.table)).rejects.toThrow('a is missing.');
    transaction.addFirst(failing('c'));
    await expect(transaction.commit(embedded.table)).rejects.toThrow('c is missing.');
  });
});

const name = 'cancelOnce';

/**
 * Returns the table, whose next transaction is cancelled for these reasons: the engine never gives most of them. Pauses take no
 * time.
 */
function cancelledOnce(reasons: string[] | undefined): Table {
  const { middlewareStack } = embedded.table.document;
  middlewareStack.remove(name);
  middlewareStack.add(
    (next, { commandName }) =>
      async (sent) => {
        if (!String(commandName).startsWith('Transact')) return await next(sent);
        middlewareStack.remove(name);
        throw new TransactionCanceledException({
          message: 'Cancelled.',
          $metadata: {},
          ...(reasons ? { CancellationReasons: reasons.map((Code) => ({ Code })) } : {}),
        });
      },
    { name, step: 'initialize' },
  );
  class QuickDeadline extends Deadline {
    override pause(): Promise<void> {
      return Promise.resolve();
    }
  }
  return { ...embedded.table, deadline: () => new QuickDeadline(untilTestEnds.timeout) };
}

const key = { ...writableKey('p', '1') };
const write = (reasons: string[] | undefined) => transact(cancelledOnce(reasons), [{ put: { Item: key } }]);
const read = (reasons: string[] | undefined) => readSettled(cancelledOnce(reasons), [key]);

describe('transact', () => {
  it.each([
    [['TransactionConflict']],
    [['ThrottlingError']],
    [['ProvisionedThroughputExceeded']],
    [['None', 'TransactionConflict', 'ThrottlingError']],
  ])('retries a transaction that is cancelled for %j', async (reasons) => {
    await expect(write(reasons)).resolves.toBeUndefined();
  });

  it.each([[undefined], [[]], [['None']], [['ValidationError']], [['TransactionConflict', 'ItemCollectionSizeLimitExceeded']]])(
    'throws for a transaction that is cancelled for %j',
    async (reasons) => {
      await expect(write(reasons)).rejects.toBeInstanceOf(TransactionCanceledException);
    },
  );
});

describe('readSettled', () => {
  it.each([[['TransactionConflict']], [['None', 'TransactionConflict']]])(
    'retries a read that is cancelled for %j',
    async (reasons) => {
      await transact(embedded.table, [{ put: { Item: key } }]);
      expect(await read(reasons)).toEqual([key]);
    },
  );

  it.each([[undefined], [[]], [['None']], [['ValidationError']], [['TransactionConflict', 'ValidationError']]])(
    'throws for a read that is cancelled for %j',
    async (reasons) => {
      await expect(read(reasons)).rejects.toBeInstanceOf(TransactionCanceledException);
    },
  );
});

const domain = 'd1';
const fields = {
  file_name: 'a.csv',
  description: '',
  asset_type: 'dataset' as const,
  mime_type: '',
  user_key: '',
  content_access: 'creator' as const,
  use: 'open' as const,
};

const stores = sharedByTests(startStores);

/** Returns the items of the table, except the counters of numbers that lists have assigned. */
const items = async () => (await scan(stores.table)).filter(({ sk }) => sk !== 'counter');

/** The answer keeper of a request whose answer is kept already. */
const answerKeeper: AnswerKeeper = {
  keep: () => {
    throw new Error('The answer is kept already.');
  },
  refuseRepeat: () => Promise.reject(new AnswerKeptError()),
};

describe('the repeat of a request', () => {
  it('unlinks nothing if it deletes an asset with more links than fit into one transaction', async () => {
    const id = await anAsset(stores, domain, { ...fields, asset: btoa('a') });
    await addHalfLinks(stores.table, id);
    const before = await items();
    await expect(deleteAsset(stores.table, { domain, id, ...byAlice, answerKeeper })).rejects.toBeInstanceOf(AnswerKeptError);
    expect(await items()).toEqual(before);
  });

  it('stores no content again', async () => {
    const id = await anAsset(stores, domain, { ...fields, asset: btoa('a') });
    const before = await items();
    const given = { ...fields, asset: btoa('b') };
    const creation = createAsset(stores.table, stores.content, {
      ...given,
      domain,
      by: 'alice',
      now: byAlice.now,
      answerKeeper,
    });
    await expect(creation).rejects.toBeInstanceOf(AnswerKeptError);
    const update = updateAsset(stores.table, stores.content, { domain, id, given, ...byAlice, answerKeeper });
    await expect(update).rejects.toBeInstanceOf(AnswerKeptError);
    expect(await items()).toEqual(before);
  });
});

describe('commitChange', () => {
  it('makes no call for an empty transaction without an answer to keep', async () => {
    stores.proxy.reset();
    expect(await commitChange(stores.mortal, new Transaction(), { a: 1 }, undefined)).toEqual({ a: 1 });
    expect(stores.proxy.calls).toEqual([]);
  });
});
