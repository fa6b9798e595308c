import { keysToChange, parseToChange } from '../computations/change-computation.ts';
import { isActive, type Run } from '../computations/run.ts';
import { emitMetric } from '../metrics.ts';
import { runKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { changeRun } from './change-run.ts';
import { claimKeys, parseClaimOf, removeClaim, type Ending } from './claim.ts';
import { removeCommand } from './change-commands.ts';
import { findRun, runKey } from './read-run.ts';
import type { RunReference } from './run-reference.ts';
import { removeKeyFromSnapshot, removeServerKey } from './snapshot.ts';

/**
 * The one place where a run ends: status, counts, statistics, the last event, and the CVM set free, in one transaction. What the
 * CVM said first counts; `otherwise` is how it ends when the CVM said nothing. Safe to repeat: a run that has ended stays as it is.
 * @param now RFC 3339, UTC, milliseconds
 * @returns the run as it ended; undefined when it is gone with its computation
 */
export async function endRun(table: Table, reference: RunReference, otherwise: Ending, now: string): Promise<Run | undefined> {
  const { domain, computation_id, run_id } = reference;
  const rowKey = runKey(domain, run_id);
  if (!rowKey) return undefined;
  return await withFreshReads(table, async (table) => {
    const keys = [rowKey, ...keysToChange(domain, computation_id), ...claimKeys(reference)];
    const [runItem, row, head, ...claimItems] = await getItems(table, keys);
    const run = findRun(runItem, run_id);
    if (!run || !isActive(run.status)) return run;
    const computation = parseToChange(domain, computation_id, [row, head]);
    const claim = parseClaimOf(reference, claimItems);
    const { status, reason, is_confirmed } = claim?.outcome ?? whileStopping(run, otherwise);

    const ended: Run = { ...run, status, ended_at: now, reason };
    const details = { reason, ...(is_confirmed === undefined ? {} : { confirmed: is_confirmed }) };
    const transaction = new Transaction();
    await changeRun(table, transaction, computation, { before: run, after: ended }, { originator: 'system', details, now });
    if (claim) removeClaim(transaction, claim);
    if (claim?.has_server_key !== false) removeServerKey(transaction, reference);
    if (claim?.has_server_key === undefined) removeKeyFromSnapshot(transaction, runKeys.snapshot(computation_id, run_id));
    removeCommand(transaction, reference, 'run');
    removeCommand(transaction, reference, 'stop');
    await transaction.commit(table);
    emitMetric('RunsEnded', 1, { outcome: status });
    return ended;
  });
}

/** A run that somebody has stopped is cancelled whatever else goes wrong with it, and says so. */
function whileStopping(run: Run, otherwise: Ending): Ending {
  if (run.status !== 'stopping' || otherwise.status === 'cancelled') return otherwise;
  return { status: 'cancelled', reason: `Stopped; the CVM did not confirm it. ${otherwise.reason}`, is_confirmed: false };
}
