import type { Permitted } from '../http/caller.ts';
import { readToChange, removeComputation } from '../rows/change-computation.ts';
import type { StoredComputation } from '../rows/computation.ts';
import { isActive } from '../rows/run.ts';
import { conflict, preconditionFailed } from '../runtime/errors.ts';
import { type AnsweredRequest, type Committed, makeChange } from '../table/transaction.ts';
import { purgeKeys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { beginPurge, purgeListings } from '../deletion/index.ts';
import { readDefinition, type Definition } from '../rows/definition.ts';

interface DeleteRequest extends AnsweredRequest {
  id: string;
  permit: (computation: StoredComputation) => Permitted;
  matchesIfMatch?: ((row: StoredComputation, definition: Definition) => boolean) | undefined;
}

/**
 * Deletes a computation, which disappears from all reads at once. Its entries in other lists are removed next, the rest by the
 * scheduled purge.
 * @throws ServiceError `not_found`; `conflict` if a run is active; `precondition_failed`
 */
export async function deleteComputation(table: Table, request: DeleteRequest): Promise<Committed<Permitted>> {
  const { domain, id, permit, matchesIfMatch, answerKeeper } = request;
  const permitted = await makeChange(table, answerKeeper, async (table, transaction) => {
    const computation = await readToChange(table, domain, id);
    const { status, run } = computation.row;
    const permitted = permit(computation.row);
    if (isActive(status)) throw conflict('run_active', 'A run is active. Wait until it ends, or stop it.', run?.id);
    // Read after the row, so that the row's version guards it.
    if (matchesIfMatch && !matchesIfMatch(computation.row, await readDefinition(table, id))) throw preconditionFailed();
    removeComputation(transaction, computation);
    transaction.add({ put: { Item: { ...purgeKeys.purge('computation', id), domain, id } } });
    return permitted;
  });
  await beginPurge(table, (table) => purgeListings(table, { domain, id }));
  return permitted;
}
