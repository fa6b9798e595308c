import * as v from 'valibot';
import { foldMarkedLists } from '../../shared/table/fold-lists.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';
import { recheckTodo, sendProbes } from '../../shared/todo/index.ts';

/** Does what the follower of the table's stream cannot: folds lists with few changes, and looks at approvals that have expired. */
export const handler = task('maintenance/fold-lists', v.unknown(), async (_event, { now, deadline }) => {
  const table = openTable(deadline);
  const done = await Promise.allSettled([foldMarkedLists(table), recheckTodo(table, now), sendProbes(table, now)]);
  const [lists, todo] = done.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  return { lists, todo };
});
