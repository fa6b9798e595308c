import { indexChangedNames } from '../../shared/find/index.ts';
import { integrateChanged, openLogStore, witnessesOfStage } from '../../shared/history/index.ts';
import { openKms } from '../../shared/runtime/clients.ts';
import { foldChangedLists, streamBatch } from '../../shared/table/fold-lists.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';
import { followTodo } from '../../shared/todo/index.ts';

/**
 * Handles a batch of changes of the table: brings the indexes of lists, the index of names and the lists of what waits for users up to
 * date, and integrates new entries into the stage's log. No change has to wait for these. The next batch waits for this one, so none may
 * take long.
 */
export const handler = task('maintenance/follow-table', streamBatch, async (batch, { now, deadline }) => {
  const table = openTable(deadline);
  const openLog = () => ({ table, store: openLogStore(deadline), kms: openKms(deadline), witnesses: witnessesOfStage() });
  const done = await Promise.allSettled([
    foldChangedLists(table, batch),
    indexChangedNames(table, batch),
    followTodo(table, batch, now),
    integrateChanged(batch, openLog),
  ]);
  const [lists, names, todo, entries] = done.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  return { lists, names, todo, entries };
});
