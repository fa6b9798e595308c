import { getItems, type Table } from '../table/table.ts';
import { withFreshReads } from '../table/fresh-reads.ts';
import { claimKeys, parseClaim } from './claim.ts';
import { recordLastingReports } from './record-lasting-reports.ts';
import { type Refusal, refusalEvent } from './refusal-event.ts';

/**
 * Records in the journal of the CVM's active run that a stream was refused, once an hour. It does not count as a report of the CVM:
 * it keeps neither the CVM connected nor the run alive. Does nothing unless the CVM has accepted an active run.
 */
export async function recordRefusal(
  table: Table,
  { domain, cvmId, ...refusal }: Refusal & { domain: string; cvmId: string },
): Promise<void> {
  await withFreshReads(table, async (table) => {
    const cvm = { domain, cvm_id: cvmId };
    const claim = parseClaim(cvm, await getItems(table, claimKeys(cvm)));
    if (claim?.accepted_at === undefined) return; // an event of the agent counts as acceptance
    const { computation_id, run_id } = claim;
    const event = { ...refusalEvent(refusal), run_id, originator: 'agent' as const, reason: '' };
    await recordLastingReports(table, { reference: { ...cvm, computation_id, run_id }, reports: [event], now: refusal.now });
  });
}
