import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { writableKey } from '../../../shared/table/keys.ts';
import { readSettled } from '../../../shared/table/fresh-reads.ts';
import type { Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const name = 'cancelOnce';

/** The table, whose next transaction is cancelled for these reasons: the engine never gives most of them. Pauses take no time. */
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
