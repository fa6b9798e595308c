import * as v from 'valibot';
import { foldDueLists } from '../../shared/lists/fold-due.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('maintenance/fold-lists', v.unknown(), async (_event, { deadline }) => ({
  lists: await foldDueLists(openTable(deadline)),
}));
