import { listsInTrees } from './lists-in-trees.ts';
import type { Migration } from './migration.ts';
import { openTasksOfUsers } from './open-tasks-of-users.ts';
import { sealedServerKeys } from './sealed-server-keys.ts';
import { serverKeysOfEndedRuns } from './server-keys-of-ended-runs.ts';

/**
 * All migrations. Each starts after the previous one is done. The lists come first: until they are in trees, their logs only grow.
 */
export const migrations: readonly Migration[] = [listsInTrees, serverKeysOfEndedRuns, sealedServerKeys, openTasksOfUsers];
