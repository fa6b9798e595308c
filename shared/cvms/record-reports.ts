import { referenceTo, type Run, findRun, runKey, type RunReference } from '../rows/run.ts';
import { cvmKeys, runKeys } from '../table/keys.ts';
import { type Table, getItems, type Item, getItem } from '../table/table.ts';
import { withFreshReads } from '../table/transaction.ts';
import { type Claim, claimKey, parseClaimOf, parseClaim } from '../rows/claim.ts';
import { reportedStateOf, recordLastingReports } from './effects-of-reports.ts';
import { completeTask, completeWaitingTasks, type Executions, sendHeartbeat } from '../lifecycle/index.ts';
import { type InvalidReport, type LastingReport, type Outcome, type Report, type ReportSummary, summaryOf } from './report.ts';
import { type CvmReference, refuseIfAtGateway, recordPresence, recordTaken } from '../rows/cvm.ts';
import type { Manifest } from '../rows/manifest.ts';
import { parseSnapshot } from '../rows/run-snapshot.ts';

/**
 * The number of reports of a CVM that are recorded in one transaction. Each report takes up to two of the transaction's 100
 * actions.
 */
const reportsPerTransaction = 40;

/** Reports that a CVM, or a gateway for it, sent in one request. */
interface Batch extends CvmReference {
  reports: (Report | InvalidReport)[];
  now: string;
  /** The identifier of the gateway that reports for the CVM. Undefined if the CVM reports for itself. */
  by?: string;
}

/**
 * Records a batch of reports of a CVM, up to 40 of a run in a transaction, and then notifies the execution of each run. A
 * repeated report changes nothing but notifies again. Events after the end of a run are recorded too. Invalid reports and reports
 * on other CVMs' runs do not keep the rest from being recorded.
 * @throws ServiceError `forbidden` if the CVM reports for itself, and is registered with a certificate
 */
export async function recordReports(table: Table, executions: Executions, batch: Batch): Promise<ReportSummary> {
  const { domain, cvmId, now, by } = batch;
  const heard = { domain, cvmId, now, by };
  const { runs, claimItem, registered } = await readItemsOfBatch(table, batch);
  if (by === undefined) refuseIfAtGateway(cvmId, registered);
  const { reports } = batch;
  const ofOwnRuns = reports.filter(({ run_id }) => run_id === undefined || runs.some(({ id }) => id === run_id));
  const recording = recordForRuns(table, executions, batch, { runs, claimItem });
  const reported = reportedStateOf(ofOwnRuns);
  const [{ outcomes, acceptedAt }] = await Promise.all([recording, recordPresence(table, heard, registered, reported)]);
  if (acceptedAt !== undefined) await recordTaken(table, heard, { item: registered, acceptedAt, reported });
  return summaryOf(reports, outcomes);
}

function isHeartbeatOfRun(report: Report | InvalidReport): boolean {
  return report.type === 'heartbeat' && report.run_id !== undefined;
}

interface BatchItems {
  /** The runs on the CVM that the reports of a batch name, invalid reports included, in the order of the reports. */
  runs: Run[];
  claimItem: Item | undefined;
  registered: Item | undefined;
}

/**
 * Reads the items that a batch of reports needs: the registration of the CVM, the runs that the reports name, and, for the
 * heartbeat of a run, which run holds the CVM.
 */
async function readItemsOfBatch(table: Table, { domain, cvmId, reports }: Batch): Promise<BatchItems> {
  const ids = [...new Set(reports.flatMap(({ run_id }) => run_id ?? []))];
  const claims = reports.some(isHeartbeatOfRun) ? [claimKey({ domain, cvm_id: cvmId })] : []; // for other reports it is read later
  const [registered, ...items] = await getItems(table, [
    cvmKeys.cvm(domain, cvmId),
    ...claims,
    ...ids.map((id) => runKey(domain, id)),
  ]);
  const runs = ids.flatMap((id, index) => {
    const run = findRun(items[claims.length + index], id);
    return run?.cvm_id === cvmId ? [run] : []; // defence
  });
  return { runs, claimItem: claims.length > 0 ? items[0] : undefined, registered };
}

/** Records the reports of a batch on each run of the CVM, and notifies the executions of the runs. */
async function recordForRuns(
  table: Table,
  executions: Executions,
  { domain, reports, now }: Batch,
  { runs, claimItem }: Pick<BatchItems, 'runs' | 'claimItem'>,
) {
  const outcomes = new Map<number, Outcome>(); // by the places of the reports in the batch
  let acceptedAt: string | undefined;
  for (const run of runs) {
    const reference = referenceTo(domain, run);
    const { lasting, heartbeats, invalid } = reportsOf(run, reports);
    let latest: Outcome = { outcome: 'recorded', run_status: run.status };
    for (let start = 0; start < lasting.length; start += reportsPerTransaction) {
      const chunk = lasting.slice(start, start + reportsPerTransaction);
      const ofRun = { reference, reports: chunk.map(({ report }) => report), now };
      const recorded = await withFreshReads(table, (table) => recordLastingReports(table, ofRun));
      acceptedAt = recorded.claim?.accepted_at ?? acceptedAt;
      const isSignOfLife = heartbeats.length > 0 || recorded.outcomes.some(({ outcome }) => outcome !== 'invalid');
      if (recorded.claim && isSignOfLife) await notifyExecution(executions, recorded.claim);
      for (const [index, { place }] of chunk.entries()) {
        const { outcome = 'unknown_run', ...rest } = recorded.outcomes[index] ?? {};
        outcomes.set(place, { outcome, ...rest, run_status: recorded.status });
      }
      latest =
        recorded.status === null ? { outcome: 'unknown_run', run_status: null } : { ...latest, run_status: recorded.status };
    }
    const isHeartbeatAlone = lasting.length === 0 && heartbeats.length > 0;
    const claim = isHeartbeatAlone ? parseClaimOf(reference, claimItem) : undefined;
    if (claim) await notifyExecution(executions, claim);
    for (const place of [...heartbeats, ...invalid]) outcomes.set(place, latest);
  }
  return { outcomes, acceptedAt };
}

/**
 * Sorts the reports of a batch on one run into lasting ones (answers and events), heartbeats and invalid ones. `place` and the
 * numbers are places in the batch.
 */
function reportsOf(run: Run, reports: Batch['reports']) {
  const lasting: { place: number; report: LastingReport }[] = [];
  const heartbeats: number[] = [];
  const invalid: number[] = [];
  for (const [place, report] of reports.entries()) {
    if (report.run_id !== run.id) continue;
    if (report.type === 'invalid') invalid.push(place);
    else if (report.type === 'heartbeat') heartbeats.push(place);
    else lasting.push({ place, report });
  }
  return { lasting, heartbeats, invalid };
}

/** Tells the execution of a run what its CVM has reported: completes the tasks that wait for it, or sends a heartbeat. */
async function notifyExecution(executions: Executions, claim: Claim): Promise<void> {
  if (claim.outcome) {
    await completeWaitingTasks(executions, claim);
    return;
  }
  if (claim.accepted_at && claim.offer_token) await completeTask(executions, claim.offer_token);
  if (claim.run_token) await sendHeartbeat(executions, claim.run_token);
}

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
