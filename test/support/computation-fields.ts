import type { ComputationFields, StoredComputation } from '../../shared/computations/computation.ts';
import { clockOfTests } from './append-to-journal.ts';

/** The fields that users set, so that a new field has its value for tests here. */
export function computationFields(changes: Partial<ComputationFields> = {}): ComputationFields {
  return { name: 'Iris', description: '', owner: 'alice', approval: 'none', ...changes };
}

/** The row of a computation that was just created. */
export function aComputationRow(id: string, changes: Partial<StoredComputation> = {}): StoredComputation {
  return {
    ...computationFields(),
    id,
    status: 'created',
    created_at: clockOfTests,
    updated_at: clockOfTests,
    run: null,
    version: 1,
    dataset_count: 0,
    ...changes,
  };
}
