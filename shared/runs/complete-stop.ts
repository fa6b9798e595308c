import type { Table } from '../table/table.ts';
import { withFreshReads } from '../table/fresh-reads.ts';
import { Transaction } from '../table/transaction.ts';
import { changeClaim, readClaim } from './claim.ts';
import { completeWaitingTasks } from './complete-waiting-tasks.ts';
import { endRun } from './end-run.ts';
import type { Ending } from './ending.ts';
import type { Executions } from './executions.ts';
import type { RunReference } from './run-reference.ts';

/**
 * Completes a stop, whether the CVM confirmed it or not. Completes the waiting tasks of the run's execution. If no task waits,
 * ends the run itself.
 */
export async function completeStop(table: Table, executions: Executions, run: RunReference, now: string): Promise<void> {
  const unconfirmed: Ending = { status: 'cancelled', reason: 'Stopped; no CVM confirmed it in time.', is_confirmed: false };
  await withFreshReads(table, async (table) => {
    const claim = await readClaim(table, run);
    if (!claim || claim.outcome) return;
    const transaction = new Transaction();
    changeClaim(transaction, claim, { set: { outcome: unconfirmed }, unless: ['outcome'] });
    await transaction.commit(table);
  });
  const claim = await readClaim(table, run); // read again: it contains the tokens that were stored before it had an outcome
  if (claim && !(await completeWaitingTasks(executions, claim))) await endRun(table, run, unconfirmed, now);
}
