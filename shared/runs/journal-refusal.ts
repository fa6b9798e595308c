import { getItems, type Table } from '../table/table.ts';
import { withFreshReads } from '../table/transaction.ts';
import { claimKeys, parseClaim } from './claim.ts';
import { recordLastingReports } from './record-lasting-reports.ts';

interface Refusal {
  domain: string;
  cvmId: string;
  reason: string;
  /** Whether the CVM's own agent is connected, so that a second one showed its certificate. Default false. */
  isConflict?: boolean;
  /** The address that the stream came from. */
  peer: string;
  now: string;
}

/**
 * Records in the journal of the CVM's active run that a stream was refused, once a minute. It does not count
 * as a report of the CVM: it keeps neither the CVM connected nor the run alive. Does nothing unless the CVM has accepted an active run.
 */
export async function journalRefusal(
  table: Table,
  { domain, cvmId, reason, isConflict = false, peer, now }: Refusal,
): Promise<void> {
  await withFreshReads(table, async (table) => {
    const cvm = { domain, cvm_id: cvmId };
    const claim = parseClaim(cvm, await getItems(table, claimKeys(cvm)));
    if (claim?.accepted_at === undefined) return; // an event of the agent counts as acceptance
    const { computation_id, run_id } = claim;
    const event = {
      type: 'event' as const,
      id: `${isConflict ? 'conflict' : 'refused'}:${now.slice(0, 16)}`,
      run_id,
      event_type: isConflict ? 'IdentityConflict' : 'StreamRefused',
      status: 'Warning',
      originator: 'agent' as const,
      details: Buffer.from(JSON.stringify({ detail: reason, peer })).toString('base64'),
      reason: '',
    };
    await recordLastingReports(table, { reference: { ...cvm, computation_id, run_id }, reports: [event], now });
  });
}
