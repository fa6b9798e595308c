import * as v from 'valibot';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { collectContent } from '../../shared/assets/index.ts';
import { emitCollateralDays } from '../../shared/attestation/index.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

export const handler = task('maintenance/collect-content', v.unknown(), async (_event, { now, deadline }) => {
  const table = openTable(deadline);
  const settled = await collectContent(table, openContentStore(deadline), now);
  await emitCollateralDays(table, Date.parse(now));
  return { settled };
});
