import type { Migration } from './migration.ts';
import { serverKeysOfEndedRuns } from './server-keys-of-ended-runs.ts';

/** Every migration, oldest first. Each begins when the one before it is done. */
export const migrations: readonly Migration[] = [serverKeysOfEndedRuns];
