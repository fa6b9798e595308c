import { listsInTrees } from './lists-in-trees.ts';
import type { Migration } from './migration.ts';
import { openTasksOfUsers } from './open-tasks-of-users.ts';
import { sealedServerKeys } from './sealed-server-keys.ts';
import { serverKeysOfEndedRuns } from './server-keys-of-ended-runs.ts';

/** All migrations, oldest first. Each starts after the previous one is done. */
export const migrations: readonly Migration[] = [serverKeysOfEndedRuns, listsInTrees, sealedServerKeys, openTasksOfUsers];
