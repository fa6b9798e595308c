import { type Table, getItem } from '../table/table.ts';
import { claimKey, parseClaim } from '../rows/claim.ts';
import type { Report } from './report.ts';
import { withFreshReads } from '../table/transaction.ts';
import { recordLastingReports } from './effects-of-reports.ts';

/**
 * Records in the journal of a CVM's active run that a gateway refused a stream of the CVM. Writes nothing unless the CVM has
 * accepted the run. A refusal keeps neither the CVM connected nor the run alive.
 */
export async function recordRefusal(
  table: Table,
  { domain, cvmId, ...refusal }: Refusal & { domain: string; cvmId: string },
): Promise<void> {
  await withFreshReads(table, async (table) => {
    const cvm = { domain, cvm_id: cvmId };
    const claim = parseClaim(await getItem(table, claimKey(cvm)));
    if (claim?.accepted_at === undefined) return; // an event of the agent counts as acceptance
    const { computation_id, run_id } = claim;
    const event = { ...refusalEvent(refusal), run_id, originator: 'agent' as const, reason: '' };
    await recordLastingReports(table, { reference: { ...cvm, computation_id, run_id }, reports: [event], now: refusal.now });
  });
}

/** A stream of a CVM that a gateway refused. */
export interface Refusal {
  reason: string;
  /** True if the stream was refused because another agent is connected as the same CVM and answers. */
  isConflict?: boolean;
  /** The network address that the refused stream came from. */
  peer: string;
  now: string;
}

type Fields = 'type' | 'id' | 'event_type' | 'status' | 'details';

/**
 * Returns the event that records a refused stream. All refusals within an hour have one identifier, so one is recorded: a machine
 * that is refused tries again every few seconds.
 */
function refusalEvent({ reason, isConflict = false, peer, now }: Refusal): Pick<Extract<Report, { type: 'event' }>, Fields> {
  return {
    type: 'event',
    id: `${isConflict ? 'conflict' : 'refused'}:${now.slice(0, 'yyyy-mm-ddThh'.length)}`,
    event_type: isConflict ? 'IdentityConflict' : 'StreamRefused',
    status: 'Warning',
    details: Buffer.from(JSON.stringify({ detail: reason, peer })).toString('base64'),
  };
}
