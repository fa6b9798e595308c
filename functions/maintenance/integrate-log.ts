import * as v from 'valibot';
import { integrateEntries, openLogStore, reportWaiting, witnessesOfStage } from '../../shared/history/index.ts';
import { openKms } from '../../shared/runtime/clients.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

/** Integrates the entries that wait into the stage's log, and says how long the oldest of those that are left has waited. */
export const handler = task('maintenance/integrate-log', v.unknown(), async (_event, { now, deadline }) => {
  const table = openTable(deadline);
  const store = openLogStore(deadline);
  try {
    return { size: await integrateEntries({ table, store, kms: openKms(deadline), witnesses: witnessesOfStage() }) };
  } finally {
    await reportWaiting(table, now);
  }
});
