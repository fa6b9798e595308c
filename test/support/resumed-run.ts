import { readClaim } from '../../shared/runs/claim.ts';
import { resumeRun } from '../../shared/runs/sweep-runs.ts';
import type { RunReference } from '../../shared/computations/run.ts';
import { aRunOnNewCvm, type Stores } from './builders-store.ts';

/** A run that was resumed after a restore: its execution has the number 1 in its name, because the one before had ended. */
export async function aResumedRun(stores: Stores, domain: string): Promise<RunReference> {
  const { algorithm: _, ...run } = await aRunOnNewCvm(stores, domain);
  const claim = await readClaim(stores.table, run);
  if (!claim) throw new Error('The run has no claim.');
  await resumeRun(stores.table, stores.executions, claim, 'ABORTED');
  return run;
}
