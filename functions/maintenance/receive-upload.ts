import * as v from 'valibot';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { receiveUpload } from '../../shared/assets/receive-upload.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';

const objectCreated = v.object({ Records: v.array(v.object({ s3: v.object({ object: v.object({ key: v.string() }) }) })) });

/** Decodes a key, which S3 notifications encode like form data. */
function objectKey(encoded: string): string {
  return decodeURIComponent(encoded.replaceAll('+', ' '));
}

export const handler = task('maintenance/receive-upload', objectCreated, async ({ Records }, { now, deadline }) => {
  for (const { s3 } of Records)
    await receiveUpload(openTable(deadline), openContentStore(deadline), objectKey(s3.object.key), now);
});
