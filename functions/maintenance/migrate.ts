import * as v from 'valibot';
import { runMigrations } from '../../shared/migrations/run-migrations.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { task } from '../../shared/tasks/task.ts';

/** Functions of the previous version end within an hour of a deployment. The one-machine stack has none and passes 0. */
const migrate = v.object({ grace_in_seconds: v.optional(v.number(), 3_600) });

export const handler = task('maintenance/migrate', migrate, async ({ grace_in_seconds }, { now, deadline }) => ({
  open: await runMigrations(openTable(deadline), { now, graceInSeconds: grace_in_seconds }),
}));
