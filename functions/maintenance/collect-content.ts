import { openContentStore } from '../../shared/assets/content-store.ts';
import { collectContent } from '../../shared/purge/collect-content.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';
import * as v from 'valibot';

/** Longer than any presigned upload is good for. */
const collection = v.object({ grace_in_seconds: v.optional(v.number(), 24 * 60 * 60) });

export const handler = task('maintenance/collect-content', collection, async ({ grace_in_seconds }, now) => ({
  deleted: await collectContent(openTable(), openContentStore(), now, grace_in_seconds),
}));
