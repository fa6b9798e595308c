import * as v from 'valibot';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { receiveUpload } from '../../shared/assets/uploads.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

/** The key of an object that was created. */
const created = v.object({ key: v.string() });

export const handler = task('maintenance/receive-upload', created, ({ key }, { now, deadline }) =>
  receiveUpload(openTable(deadline), openContentStore(deadline), key, now),
);
