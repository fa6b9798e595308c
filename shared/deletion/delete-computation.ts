import type { Permitted } from '../access/caller.ts';
import { conflict } from '../errors.ts';
import { beginPurge } from './begin-purge.ts';
import { purgeListings } from './purge-computation.ts';
import { isActive } from '../computations/run.ts';
import { journalKeys, lists, purgeKeys } from '../table/keys.ts';
import { removeFromList } from '../table/listing.ts';
import { type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../table/transaction.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { computationKey, computationNumber, readComputation } from '../computations/read-computation.ts';

/**
 * Deletes a computation: gone from every read at once. What stands in lists is taken out at once, the rest is purged
 * behind it, also after a crash, since the purge is written down in the transaction that deletes.
 * @param permit called with the computation as it is; throws to refuse
 * @throws ServiceError `not_found`; `conflict` while a run is active
 */
export async function deleteComputation(
  table: Table,
  domain: string,
  id: string,
  permit: (computation: StoredComputation) => Permitted,
): Promise<Permitted> {
  const permitted = await withFreshReads(table, async (table) => {
    const { status, run, ...computation } = await readComputation(table, domain, id);
    const permitted = permit({ status, run, ...computation });
    if (isActive(status)) throw conflict('run_active', 'A run is active; wait for its end, or stop it.', run?.id);
    await transact(table, [
      {
        delete: {
          Key: computationKey(domain, id),
          ConditionExpression: 'id = :id AND #status = :status',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':id': id, ':status': status },
        },
        otherwise: new StaleReadError(),
      },
      ...removeFromList(lists.computations(domain), computationNumber(id), status),
      { delete: { Key: journalKeys.head(id) } },
      { put: { Item: { ...purgeKeys.purge('computation', id), domain, id } } },
    ]);
    return permitted;
  });
  await beginPurge(purgeListings(table, { domain, id }));
  return permitted;
}
