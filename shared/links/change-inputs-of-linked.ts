import { changeInputs } from '../computations/change-computation.ts';
import { maxTimeInMilliseconds } from '../deadline.ts';
import { deadlineOf, type Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { readLinkedComputations, readLinkedIds, readRows } from './linked-computations.ts';

/** The number of linked computations that the transaction of an asset's change changes too. */
const computationsPerTransaction = 80;

/**
 * After this time, every start that read the asset before the change has ended. A start takes up to 5 seconds, and its last write
 * may take a little longer.
 */
const startsEndWithinMilliseconds = 2 * maxTimeInMilliseconds;

/** The longest time from the start of a request to its change of the asset. The asset stores when the request began, or a later time. */
const changedWithinMilliseconds = maxTimeInMilliseconds;

/**
 * Changes the inputs of the computations that an asset is linked to, so that no run starts with the asset as it was before. Those
 * that do not fit into the transaction are left to changeInputsLater.
 * @returns the computations that did not fit
 */
export async function changeInputsOfLinked(
  table: Table,
  transaction: Transaction,
  domain: string,
  assetId: string,
): Promise<string[]> {
  const computations = await readLinkedComputations(table, domain, assetId);
  for (const row of computations.slice(0, computationsPerTransaction)) {
    changeInputs(transaction, { domain, row }, { addedDatasets: 0 });
  }
  return computations.slice(computationsPerTransaction).map(({ id }) => id);
}

/**
 * Changes the inputs of computations after the transaction that changed an asset, before the request is answered: a run that
 * read the asset before that transaction does not start after the answer. Ends after 10 seconds at the latest, when no such start
 * is left. Safe to repeat.
 * @throws ServiceError `unavailable`
 */
export async function changeInputsLater(table: Table, domain: string, computationIds: string[]): Promise<void> {
  const deadline = deadlineOf(table);
  const sinceChange = deadline.next(startsEndWithinMilliseconds);
  for (let start = 0; start < computationIds.length; start += computationsPerTransaction) {
    if (sinceChange.elapsed >= startsEndWithinMilliseconds) return;
    const ids = computationIds.slice(start, start + computationsPerTransaction);
    const part = deadline.next();
    await withFreshReads({ ...table, deadline: () => part }, async (table) => {
      const transaction = new Transaction();
      for (const row of await readRows(table, domain, ids)) changeInputs(transaction, { domain, row }, { addedDatasets: 0 });
      if (!transaction.isEmpty) await transaction.commit(table);
    });
  }
}

/**
 * Completes what the update of an asset may have left undone after its transaction, if the request is repeated while a start may
 * still have read the asset before.
 * @param times.changedAt the time at which the request began that changed the asset
 * @throws ServiceError `unavailable`
 */
export async function completeChangeOfLinked(
  table: Table,
  { domain, assetId }: { domain: string; assetId: string },
  { changedAt, now }: { changedAt: string; now: string },
): Promise<void> {
  if (Date.parse(now) - Date.parse(changedAt) >= changedWithinMilliseconds + startsEndWithinMilliseconds) return;
  const reading = deadlineOf(table).next();
  const ids = await readLinkedIds({ ...table, deadline: () => reading }, assetId);
  if (ids.length > computationsPerTransaction) await changeInputsLater(table, domain, ids);
}
