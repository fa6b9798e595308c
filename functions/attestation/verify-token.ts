import * as v from 'valibot';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { verifyReportedToken } from '../../shared/attestation/verify-reported-token.ts';
import { openExecutions } from '../../shared/lifecycle/index.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

const created = v.object({ key: v.string() });

export const handler = task('attestation/verify-token', created, async ({ key }, { now, deadline }) => {
  const parts = { table: openTable(deadline), store: openContentStore(deadline), executions: openExecutions(deadline) };
  await verifyReportedToken(parts, key, now);
});
