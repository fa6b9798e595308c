import * as v from 'valibot';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { purgeAll } from '../../shared/deletion/index.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('maintenance/purge', v.unknown(), async (_event, { deadline }) =>
  purgeAll(openTable(deadline), openContentStore(deadline)),
);
