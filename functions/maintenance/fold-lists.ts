import * as v from 'valibot';
import { foldMarkedLists } from '../../shared/table/fold-lists.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('maintenance/fold-lists', v.unknown(), async (_event, { deadline }) => ({
  lists: await foldMarkedLists(openTable(deadline)),
}));
