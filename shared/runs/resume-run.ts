import type { ExecutionStatus } from '@aws-sdk/client-sfn';
import type { Table } from '../table/table.ts';
import { withFreshReads } from '../table/fresh-reads.ts';
import { Transaction } from '../table/transaction.ts';
import { changeClaim, readClaim, type Claim } from './claim.ts';
import { startExecution, type Executions } from './executions.ts';

/**
 * Lets an active run go on whose execution is gone, because the machine was restarted or the table was restored: starts an
 * execution from the claim. Its first step offers the run again, or passes on at once if the CVM has accepted it. The time limits
 * of the run start again. Safe to repeat.
 * @param status how the execution before ended; undefined if there was none. The name of an ended one stays taken.
 * @returns how often the run was resumed under another name
 */
export async function resumeRun(
  table: Table,
  executions: Executions,
  claim: Claim,
  status: ExecutionStatus | undefined,
): Promise<number> {
  const resumed = status === undefined ? (claim.resumed ?? 0) : await takeNextName(table, claim);
  const { domain, computation_id, run_id, cvm_id } = claim;
  await startExecution(executions, 'run', { domain, computation_id, run_id, cvm_id }, resumed);
  return resumed;
}

/** Counts in the claim, so that the sweep finds the execution. A claim that was counted or freed since stays as it is. */
async function takeNextName(table: Table, { resumed: before = 0, ...run }: Claim): Promise<number> {
  return await withFreshReads(table, async (table) => {
    const claim = await readClaim(table, run);
    if (!claim || (claim.resumed ?? 0) > before) return claim?.resumed ?? before;
    const transaction = new Transaction();
    changeClaim(transaction, claim, { set: { resumed: before + 1 } });
    await transaction.commit(table);
    return before + 1;
  });
}
