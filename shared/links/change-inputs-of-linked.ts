import { changeInputs } from '../computations/change-computation.ts';
import { maxTimeInMilliseconds } from '../deadline.ts';
import { ServiceError } from '../errors.ts';
import { withoutAnswer } from '../table/commit-change.ts';
import { deadlineOf, type Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { readLinkedComputations, readLinkedIds, readRows } from './linked-computations.ts';

/** The number of linked computations that the transaction of an asset's change changes too. */
const computationsPerTransaction = 80;

/** Enough for 10,000 computations of a domain, whose partition takes 1,000 write units a second. */
const longestTimeInMilliseconds = 20_000;

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
 * read the asset before that transaction does not start after the answer. Safe to repeat.
 * @throws ServiceError `unavailable` if not all are changed within 20 seconds
 */
export async function changeInputsLater(table: Table, domain: string, computationIds: string[]): Promise<void> {
  const deadline = deadlineOf(table);
  const whole = deadline.next(longestTimeInMilliseconds);
  for (let start = 0; start < computationIds.length; start += computationsPerTransaction) {
    const ids = computationIds.slice(start, start + computationsPerTransaction);
    if (whole.remaining === 0) throw new ServiceError('unavailable', 'The asset is linked to many computations. Try again.');
    const part = deadline.next(Math.min(maxTimeInMilliseconds, whole.remaining));
    const later = { ...withoutAnswer(table), deadline: () => part };
    await withFreshReads(later, async (table) => {
      const transaction = new Transaction();
      for (const row of await readRows(table, domain, ids)) changeInputs(transaction, { domain, row }, { addedDatasets: 0 });
      if (!transaction.isEmpty) await transaction.commit(table);
    });
  }
}

/**
 * Completes what an earlier update of an asset may have left undone after its transaction. One query, for few links.
 * @throws ServiceError as changeInputsLater
 */
export async function completeChangeOfLinked(table: Table, domain: string, assetId: string): Promise<void> {
  const first = await readLinkedIds(table, assetId, { limit: computationsPerTransaction + 1 });
  if (first.length <= computationsPerTransaction) return;
  await changeInputsLater(table, domain, await readLinkedIds(table, assetId));
}
