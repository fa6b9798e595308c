import type { Permitted } from '../access/caller.ts';
import { readToChange, removeComputation } from '../computations/change-computation.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { isActive } from '../computations/run.ts';
import { conflict } from '../errors.ts';
import { purgeKeys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { beginPurge } from './begin-purge.ts';
import { purgeListings } from './purge-computation.ts';

interface DeleteRequest {
  domain: string;
  id: string;
  /** Called with the computation as it is; throws to refuse. */
  permit: (computation: StoredComputation) => Permitted;
}

/**
 * Deletes a computation: gone from every read at once. What stands in lists is taken out at once, the rest is purged
 * behind it, also after a crash, since the purge is written down in the transaction that deletes.
 * @throws ServiceError `not_found`; `conflict` while a run is active
 */
export async function deleteComputation(table: Table, { domain, id, permit }: DeleteRequest): Promise<Permitted> {
  const permitted = await withFreshReads(table, async (table) => {
    const computation = await readToChange(table, domain, id);
    const { status, run } = computation.row;
    const permitted = permit(computation.row);
    if (isActive(status)) throw conflict('run_active', 'A run is active; wait for its end, or stop it.', run?.id);
    const transaction = new Transaction();
    removeComputation(transaction, computation);
    transaction.add({ put: { Item: { ...purgeKeys.purge('computation', id), domain, id } } });
    await transaction.commit(table);
    return permitted;
  });
  await beginPurge(purgeListings(table, { domain, id }));
  return permitted;
}
