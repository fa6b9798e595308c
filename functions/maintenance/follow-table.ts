import { indexChangedNames } from '../../shared/find/index.ts';
import { foldChangedLists, streamBatch } from '../../shared/table/fold-lists.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

/**
 * Handles a batch of changes of the table: brings the indexes of lists and the index of names up to date. No change has to wait
 * for these indexes.
 */
export const handler = task('maintenance/follow-table', streamBatch, async (batch, { deadline, draining }) => {
  const table = openTable(deadline);
  const [lists, names] = await Promise.allSettled([foldChangedLists(table, batch, draining), indexChangedNames(table, batch)]);
  if (lists.status === 'rejected') throw lists.reason;
  if (names.status === 'rejected') throw names.reason;
  return { lists: lists.value, names: names.value };
});
