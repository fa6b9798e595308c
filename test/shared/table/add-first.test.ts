import { describe, expect, it } from 'vitest';
import { writableKey } from '../../../shared/table/keys.ts';
import { type Action, Transaction } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

/** The check of an item that does not exist. */
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
