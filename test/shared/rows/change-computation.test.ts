import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import {
  assertExists,
  changeInputs,
  type ComputationToChange,
  readToChange,
  removeComputation,
} from '../../../shared/rows/change-computation.ts';
import { computationKeys } from '../../../shared/table/keys.ts';
import { Transaction, StaleReadError } from '../../../shared/table/transaction.ts';
import { aComputation, byAlice } from '../../support/builders-store.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { getItem } from '../../../shared/table/table.ts';
import { emptyDefinition, replaceDefinition } from '../../../shared/rows/definition.ts';
import { readComputation } from '../../../shared/rows/computation.ts';

const embedded = sharedByTests(startEmbeddedTable);

const domain = 'd1';
const read = (id: string) => readComputation(embedded.table, domain, id);

async function commit(change: (transaction: Transaction) => void): Promise<void> {
  const transaction = new Transaction();
  change(transaction);
  await transaction.commit(embedded.table);
}

type Change = (transaction: Transaction, computation: ComputationToChange) => void;

describe.each<[string, Change, Change]>([
  ['changeInputs', (transaction, computation) => changeInputs(transaction, computation, { addedDatasets: 1 }), changeInputsOnce],
  ['removeComputation', removeComputation, changeInputsOnce],
  ['assertExists', (transaction, { row }) => assertExists(transaction, domain, row.id), removeComputation],
])('%s', (_name, change, other) => {
  it('fails as stale and writes nothing when another change came first', async () => {
    const computation = await readToChange(embedded.table, domain, await aComputation(embedded.table, domain));
    await commit((transaction) => other(transaction, computation));
    const changed = await read(computation.row.id).catch(String);
    await expect(commit((transaction) => change(transaction, computation))).rejects.toBeInstanceOf(StaleReadError);
    expect(await read(computation.row.id).catch(String)).toEqual(changed);
  });
});

function changeInputsOnce(transaction: Transaction, computation: ComputationToChange): void {
  changeInputs(transaction, computation, { addedDatasets: 3 });
}

describe('changeInputs', () => {
  it('counts up the version, and the datasets by as many as were linked', async () => {
    const computation = await readToChange(embedded.table, domain, await aComputation(embedded.table, domain));
    await commit((transaction) => changeInputs(transaction, computation, { addedDatasets: 2 }));
    const { id, version, dataset_count } = computation.row;
    expect(await read(id)).toMatchObject({ version: version + 1, dataset_count: dataset_count + 2 });
  });
});

describe('replaceDefinition', () => {
  const computation = { domain, id: numberedId(7), version: 2, ...byAlice };
  const withConsumers = (consumers: string[]) => ({ ...emptyDefinition, consumers });
  const replace = (before: string[], after: string[]) =>
    commit((transaction) => replaceDefinition(transaction, computation, withConsumers(before), withConsumers(after)));
  const listed = async () => (await getItem(embedded.table, computationKeys.consumers(computation.id)))?.['consumers'];

  it('keeps the consumers in their order', async () => {
    await replace([], ['bob', 'alice']);
    expect(await listed()).toEqual(['bob', 'alice']);
    await replace(['bob', 'alice'], ['carol', 'bob']);
    expect(await listed()).toEqual(['carol', 'bob']);
    await replace(['carol', 'bob'], []);
    expect(await listed()).toEqual([]);
  });

  it('adds nothing to the transaction if the list stays the same', () => {
    const transaction = new Transaction();
    replaceDefinition(transaction, computation, withConsumers(['bob', 'alice']), withConsumers(['bob', 'alice']));
    expect(transaction.isEmpty).toBe(true);
  });
});
