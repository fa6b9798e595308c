import { claimKey, parseClaim } from '../rows/claim.ts';
import type { Manifest } from '../rows/manifest.ts';
import { parseSnapshot } from '../rows/run-snapshot.ts';
import type { RunReference } from '../rows/run.ts';
import { runKeys } from '../table/keys.ts';
import { getItem, getItems, type Table } from '../table/table.ts';
import { withFreshReads } from '../table/transaction.ts';
import { recordLastingReports } from './effects-of-reports.ts';
import type { LastingReport } from './report.ts';

/**
 * Records in the journal of a CVM's active run that a gateway refused a stream of the CVM. Writes nothing unless the CVM has
 * accepted the run. A refusal keeps neither the CVM connected nor the run alive.
 */
export async function recordRefusal(
  table: Table,
  { domain, cvmId, reason, isConflict = false, peer, now }: Refusal & { domain: string; cvmId: string },
): Promise<void> {
  await withFreshReads(table, async (table) => {
    const cvm = { domain, cvm_id: cvmId };
    const claim = parseClaim(await getItem(table, claimKey(cvm)));
    if (claim?.accepted_at === undefined) return; // an event of the agent counts as acceptance
    const { computation_id, run_id } = claim;
    // All refusals within an hour have one identifier, so one is recorded: a machine that is refused tries again every few seconds.
    const hour = now.slice(0, 'yyyy-mm-ddThh'.length);
    const event: LastingReport = {
      type: 'event',
      id: `${isConflict ? 'conflict' : 'refused'}:${hour}`,
      run_id,
      event_type: isConflict ? 'IdentityConflict' : 'StreamRefused',
      status: 'Warning',
      originator: 'agent',
      reason: '',
      details: Buffer.from(JSON.stringify({ detail: reason, peer })).toString('base64'),
    };
    await recordLastingReports(table, { reference: { ...cvm, computation_id, run_id }, reports: [event], now });
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

/**
 * Reads the manifest of a run in which some events have not happened yet.
 * @param reports the identifiers of the reports on these events, from any gateway
 * @returns undefined if one of the reports was recorded, or if the run was deleted
 */
export async function readManifestBefore(
  table: Table,
  { computation_id, run_id }: Pick<RunReference, 'computation_id' | 'run_id'>,
  reports: string[],
): Promise<Manifest | undefined> {
  const markers = reports.map((id) => runKeys.report(computation_id, run_id, id));
  const [snapshot, ...recorded] = await getItems(table, [runKeys.snapshot(computation_id, run_id), ...markers]);
  return snapshot && recorded.every((marker) => marker === undefined) ? parseSnapshot([snapshot]).manifest : undefined;
}
