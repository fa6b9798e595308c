import { withFreshReads } from '../table/fresh-reads.ts';
import type { Table } from '../table/table.ts';
import { Transaction } from '../table/transaction.ts';
import { changeClaim, type Claim, readClaim } from '../rows/claim.ts';
import { completeWaitingTasks, type Executions } from './executions.ts';
import { endingOf, waysToEnd } from '../rows/ways-to-end.ts';

/** Because its CVM does not satisfy the policy. The first outcome counts. Safe to repeat. */
export async function failRun(table: Table, executions: Executions, run: Claim, reason: string): Promise<void> {
  const claim = await withFreshReads(table, async (table) => {
    const claim = await readClaim(table, run);
    if (!claim || claim.outcome) return claim;
    const transaction = new Transaction();
    const status = claim.stop_token === undefined ? 'running' : 'stopping';
    const outcome = endingOf(waysToEnd.failRun.notAttested, status, reason);
    changeClaim(transaction, claim, { set: { outcome }, unless: ['outcome'] });
    await transaction.commit(table);
    return await readClaim(table, run); // it has the tokens that were stored before it had an outcome
  });
  if (claim) await completeWaitingTasks(executions, claim);
}
