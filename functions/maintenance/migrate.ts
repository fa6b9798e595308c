import { runMigrations } from '../../shared/migrations/run-migrations.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';
import * as v from 'valibot';

/** Functions of the version before are gone within the hour of a deployment; one machine, started anew, has none, and says 0. */
const migrate = v.object({ grace_in_seconds: v.optional(v.number(), 3_600) });

export const handler = task('maintenance/migrate', migrate, async ({ grace_in_seconds }, { now, deadline }) => ({
  open: await runMigrations(openTable(deadline), { now, graceInSeconds: grace_in_seconds }),
}));
