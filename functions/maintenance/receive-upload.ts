import * as v from 'valibot';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { receiveUpload, reportDeletion } from '../../shared/assets/index.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

const changed = v.object({ key: v.string(), deleted: v.optional(v.literal(true)) });

export const handler = task('maintenance/receive-upload', changed, ({ key, deleted }, { now, deadline }) => {
  const table = openTable(deadline);
  return deleted ? reportDeletion(table, key) : receiveUpload(table, openContentStore(deadline), key, now);
});
