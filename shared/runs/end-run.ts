import { keysToChange, parseToChange } from '../computations/change-computation.ts';
import { isActive, type Run } from '../computations/run.ts';
import { emitMetric } from '../metrics.ts';
import { system } from '../originators.ts';
import { cvmKeys, runKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { withFreshReads } from '../table/fresh-reads.ts';
import { Transaction } from '../table/transaction.ts';
import { changeRun } from './change-run.ts';
import { claimKeys, parseClaimOf, removeClaim, type ReadClaim } from './claim.ts';
import { removeCommand } from './change-commands.ts';
import type { Ending } from './ending.ts';
import { findRun, runKey } from '../computations/read-run.ts';
import { recordSpent } from './record-presence.ts';
import type { RunReference } from './run-reference.ts';
import { removeKeyFromSnapshot, removeServerKey } from './snapshot.ts';

/**
 * Ends a run; every run ends here. One transaction changes the status, the lists and the statistics, records the last event and
 * frees the CVM. The run ends with the first outcome that the CVM reported, or with `otherwise` if it reported none. Safe to
 * repeat: a run that has ended does not change.
 * @param now RFC 3339, UTC, milliseconds
 * @returns whether this call ended the run; false if it had ended before, or was deleted with its computation
 */
export async function endRun(table: Table, reference: RunReference, otherwise: Ending, now: string): Promise<boolean> {
  const { domain, computation_id, run_id, cvm_id } = reference;
  const rowKey = runKey(domain, run_id);
  if (!rowKey) return false;
  return await withFreshReads(table, async (table) => {
    const keys = [rowKey, ...keysToChange(domain, computation_id), cvmKeys.cvm(domain, cvm_id), ...claimKeys(reference)];
    const [runItem, row, head, registered, ...claimItems] = await getItems(table, keys);
    const run = findRun(runItem, run_id);
    const claim = parseClaimOf(reference, claimItems);
    if (!run || !isActive(run.status)) {
      if (claim) await freeCvm(table, reference, claim);
      return false;
    }
    const computation = parseToChange(domain, computation_id, [row, head]);
    const { status, reason, is_confirmed } = claim?.outcome ?? whenStopping(run, otherwise);

    const ended: Run = { ...run, status, ended_at: now, reason };
    const details = { reason, ...(is_confirmed === undefined ? {} : { confirmed: is_confirmed }) };
    const transaction = new Transaction();
    await changeRun(table, transaction, computation, { before: run, after: ended }, { originator: system, details, now });
    if (claim) removeClaim(transaction, claim);
    recordSpent(transaction, reference, { item: registered, acceptedAt: claim?.accepted_at, now });
    if (claim?.has_server_key !== false) removeServerKey(transaction, reference);
    if (claim?.has_server_key === undefined) removeKeyFromSnapshot(transaction, runKeys.snapshot(computation_id, run_id));
    removeCommand(transaction, reference, 'run');
    removeCommand(transaction, reference, 'stop');
    await transaction.commit(table);
    emitMetric('RunsEnded', 1, { outcome: status });
    return true;
  });
}

/** Frees a CVM whose run has ended without it, by a function of an earlier version that did not find the claim. */
async function freeCvm(table: Table, reference: RunReference, claim: ReadClaim): Promise<void> {
  const transaction = new Transaction();
  removeClaim(transaction, claim);
  removeServerKey(transaction, reference);
  removeCommand(transaction, reference, 'run');
  removeCommand(transaction, reference, 'stop');
  await transaction.commit(table);
}

/** A run that a user stopped ends as cancelled even if it fails. The reason names the failure. */
function whenStopping(run: Run, otherwise: Ending): Ending {
  if (run.status !== 'stopping' || otherwise.status === 'cancelled') return otherwise;
  return { status: 'cancelled', reason: `Stopped; the CVM did not confirm it. ${otherwise.reason}`, is_confirmed: false };
}
