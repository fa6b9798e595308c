import { changeInputs } from '../computations/change-computation.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { computationKey, findComputation } from '../computations/find-computation.ts';
import { ServiceError } from '../errors.ts';
import { withoutAnswer } from '../table/commit-change.ts';
import { listKeys, lists } from '../table/keys.ts';
import { deadlineOf, getItems, queryPrefix, type Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';

/** Reads the rows of the computations that an asset is linked to. Two round trips. */
export async function readLinkedComputations(table: Table, domain: string, assetId: string): Promise<StoredComputation[]> {
  return await readRows(table, domain, await readLinkedIds(table, assetId));
}

/** Returns the identifiers of the computations that an asset is linked to. @param limit the most that are read. Default: all */
export async function readLinkedIds(table: Table, assetId: string, { limit }: { limit?: number } = {}): Promise<string[]> {
  const options = { limit, attributes: ['id'] };
  const links = await queryPrefix(table, lists.linkedComputations(assetId).pk, listKeys.prefixes.row, options);
  return links.map((link) => String(link['id']));
}

/** Reads the rows of computations. Leaves out those that have been deleted. */
export async function readRows(table: Table, domain: string, ids: string[]): Promise<StoredComputation[]> {
  const items = await getItems(
    table,
    ids.map((id) => computationKey(domain, id)),
  );
  return ids.flatMap((id, index) => findComputation(items[index], id) ?? []);
}

/** The number of linked computations that the transaction of an asset's change changes too. */
const computationsPerTransaction = 80;

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
 * @throws ServiceError `unavailable` if not all are changed within 5 seconds
 */
export async function changeInputsLater(table: Table, domain: string, computationIds: string[]): Promise<void> {
  const deadline = deadlineOf(table).next();
  const later = { ...withoutAnswer(table), deadline: () => deadline };
  for (let start = 0; start < computationIds.length; start += computationsPerTransaction) {
    const ids = computationIds.slice(start, start + computationsPerTransaction);
    if (deadline.remaining === 0) throw new ServiceError('unavailable', 'The asset is linked to many computations. Try again.');
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
