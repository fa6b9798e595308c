import { describe, expect, it } from 'vitest';
import {
  assertExists,
  changeInputs,
  type ComputationToChange,
  readToChange,
  removeComputation,
} from '../../../shared/computations/change-computation.ts';
import { readComputation } from '../../../shared/computations/read-computation.ts';
import { StaleReadError } from '../../../shared/table/fresh-reads.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { aComputation } from '../../support/builders-store.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const domain = 'd1';

type Change = (transaction: Transaction, computation: ComputationToChange) => void;

const changes: [string, Change][] = [
  ['changeInputs', (transaction, computation) => changeInputs(transaction, computation, { addedDatasets: 1 })],
  ['removeComputation', removeComputation],
];

describe.each(changes)('%s', (_name, change) => {
  it('fails as stale and writes nothing when the row has changed since it was read', async () => {
    const id = await aComputation(embedded.table, domain);
    const computation = await readToChange(embedded.table, domain, id);
    const other = new Transaction();
    changeInputs(other, computation, { addedDatasets: 3 });
    await other.commit(embedded.table);
    const changed = await readComputation(embedded.table, domain, id);
    const transaction = new Transaction();
    change(transaction, computation);
    await expect(transaction.commit(embedded.table)).rejects.toBeInstanceOf(StaleReadError);
    expect(await readComputation(embedded.table, domain, id)).toEqual(changed);
  });
});

describe('changeInputs', () => {
  it('counts up the version, and the datasets by as many as were linked', async () => {
    const id = await aComputation(embedded.table, domain);
    const computation = await readToChange(embedded.table, domain, id);
    const transaction = new Transaction();
    changeInputs(transaction, computation, { addedDatasets: 2 });
    await transaction.commit(embedded.table);
    const { version, dataset_count } = computation.row;
    expect(await readComputation(embedded.table, domain, id)).toMatchObject({
      version: version + 1,
      dataset_count: dataset_count + 2,
    });
  });
});

describe('assertExists', () => {
  it('fails as stale when the computation has been deleted', async () => {
    const id = await aComputation(embedded.table, domain);
    const deletion = new Transaction();
    removeComputation(deletion, await readToChange(embedded.table, domain, id));
    await deletion.commit(embedded.table);
    const transaction = new Transaction();
    assertExists(transaction, domain, id);
    await expect(transaction.commit(embedded.table)).rejects.toBeInstanceOf(StaleReadError);
  });
});
