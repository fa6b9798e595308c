import { foldChangedLists, streamBatch } from '../../shared/table/fold-lists.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';

/** Reads the stream of the table: what follows from a change and need not be done within it. */
export const handler = task('maintenance/follow-table', streamBatch, async (batch, { deadline, draining }) => ({
  lists: await foldChangedLists(openTable(deadline), batch, draining),
}));
