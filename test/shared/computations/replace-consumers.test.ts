import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { replaceConsumers } from '../../../shared/computations/change-computation.ts';
import { computationKeys, userKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const computation = { domain: 'd1', id: numberedId(7) };

async function replace(before: string[], after: string[]): Promise<void> {
  const transaction = new Transaction();
  replaceConsumers(transaction, computation, { before, after });
  await transaction.commit(embedded.table);
}

const listed = async () => (await getItem(embedded.table, computationKeys.consumers(computation.id)))?.['consumers'];
const isNoted = async (user: string) => (await getItem(embedded.table, userKeys.consumer('d1', user, 7))) !== undefined;

describe('replaceConsumers', () => {
  it('keeps the list in its order, and notes the computation with each of its users alone', async () => {
    await replace([], ['bob', 'alice']);
    expect([await listed(), await isNoted('bob'), await isNoted('alice')]).toEqual([['bob', 'alice'], true, true]);
    await replace(['bob', 'alice'], ['carol', 'bob']);
    expect([await listed(), await isNoted('bob'), await isNoted('alice'), await isNoted('carol')]).toEqual([
      ['carol', 'bob'],
      true,
      false,
      true,
    ]);
    await replace(['carol', 'bob'], ['bob', 'carol']);
    expect([await listed(), await isNoted('bob'), await isNoted('carol')]).toEqual([['bob', 'carol'], true, true]);
  });

  it('leaves nothing behind when no user is named any more', async () => {
    await replace([], ['dave']);
    await replace(['dave'], []);
    expect([await listed(), await isNoted('dave')]).toEqual([undefined, false]);
  });

  it('adds nothing to the transaction if the list stays the same', () => {
    const transaction = new Transaction();
    replaceConsumers(transaction, computation, { before: ['bob', 'alice'], after: ['bob', 'alice'] });
    expect(transaction.isEmpty).toBe(true);
  });
});
