import { openContentStore } from '../../shared/assets/content-store.ts';
import { createdKeys, objectCreated } from '../../shared/assets/object-created.ts';
import { receiveUpload } from '../../shared/assets/receive-upload.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('maintenance/receive-upload', objectCreated, async (event, { now, deadline }) => {
  for (const key of createdKeys(event)) await receiveUpload(openTable(deadline), openContentStore(deadline), key, now);
});
