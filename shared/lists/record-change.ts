import { log } from '../logger.ts';
import type { Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import { changesPerFoldCheck, changesUntilFoldCheck, rememberFoldCheck } from './fold-check-interval.ts';
import { foldChanges, leastToMark } from './fold.ts';
import type { ListIndex } from './list-index.ts';
import { logChange, nameOfResource, type Step } from './log.ts';

/** Adds a change of members to the transaction that changes the resource. See logChange. */
export function recordChange(
  transaction: Transaction,
  index: ListIndex,
  { resource, name = nameOfResource(resource), ...step }: Step & { resource: number; name?: string },
): void {
  transaction.add(logChange(index, resource, step, name));
  const change = resource * 5 + step.version;
  if (change % changesPerFoldCheck !== 0) return;
  transaction.afterwards(async (table) => {
    if (change % changesUntilFoldCheck(table, index) === 0) await tryToFold(table, index);
  });
}

/** The change has succeeded. The next check folds what this one failed to fold. */
async function tryToFold(table: Table, index: ListIndex): Promise<void> {
  try {
    const { steps, folds, worthFrom } = await foldChanges(table, index);
    if (steps >= leastToMark || folds > 0) rememberFoldCheck(table, index, worthFrom); // the schedule knows the index
  } catch (error) {
    log('WARN', 'The changes of a list were not folded, and will be later.', { index: index.scope }, error);
  }
}
