import { assertExists, keysToChange, parseToChange, recordEvents } from '../computations/change-computation.ts';
import { findComputation } from '../computations/find-computation.ts';
import type { Run } from '../computations/run.ts';
import { notFound, ServiceError } from '../errors.ts';
import { emitMetric } from '../metrics.ts';
import { runKeys } from '../table/keys.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import { StaleReadError, Transaction, withFreshReads, type Action } from '../table/transaction.ts';
import { removeCommand } from './change-commands.ts';
import { assertClaimed, changeClaim, claimKeys, parseClaimOf, readClaim, type Claim, type ClaimChange } from './claim.ts';
import { completeTasksOf } from './complete-tasks.ts';
import { answeredCommands, claimChangeOf, eventsOf } from './effects-of-reports.ts';
import { completeTask, sendHeartbeat, type Executions } from './executions.ts';
import { findRun, runKey } from './read-run.ts';
import type { Report } from './report.ts';
import type { RunReference } from './run-reference.ts';

/** Each report takes up to two actions, a marker and an event. Their sum stays below the 100 actions of a transaction. */
const reportsPerTransaction = 40;

interface Batch {
  domain: string;
  cvmId: string;
  reports: Report[];
  now: string;
}

/**
 * Records a batch of reports of a CVM. Events go into the journal, acceptance and outcome into the claim, in one transaction for
 * up to 40 reports of a run. Then notifies the waiting execution. A repeated report changes nothing, but notifies the execution
 * again. Events that arrive after the end of a run are still recorded.
 * @throws ServiceError `not_found` that names the report whose run is not on this CVM; then nothing of the batch is recorded
 */
export async function recordReports(
  table: Table,
  executions: Executions,
  batch: Batch,
): Promise<{ accepted: number; duplicates: number }> {
  const runs = await readRuns(table, batch);
  let accepted = 0;
  for (const run of runs) {
    const reports = batch.reports.filter((report) => report.run_id === run.id);
    for (let start = 0; start < reports.length; start += reportsPerTransaction) {
      const chunk = reports.slice(start, start + reportsPerTransaction);
      const recorded = await withFreshReads(table, (table) => recordChunk(table, batch, run, chunk));
      if (recorded.claim) await notifyExecution(executions, recorded.claim);
      accepted += recorded.accepted;
    }
  }
  return { accepted, duplicates: batch.reports.length - accepted };
}

/** Reads the runs of the batch, in the order of its reports. */
async function readRuns(table: Table, { domain, cvmId, reports }: Batch): Promise<Run[]> {
  const ids = [...new Set(reports.map((report) => report.run_id))];
  const keys = ids.map((id) => runKey(domain, id) ?? refuse(reports, id, cvmId));
  const items = await getItems(table, keys);
  return ids.map((id, index) => {
    const run = findRun(items[index], id);
    return run?.cvm_id === cvmId ? run : refuse(reports, id, cvmId);
  });
}

function refuse(reports: Report[], runId: string, cvmId: string): never {
  const detail = `There is no such run on the CVM ${cvmId}.`;
  const pointer = `/reports/${reports.findIndex((report) => report.run_id === runId)}/run_id`;
  throw new ServiceError('not_found', detail, { errors: [{ pointer, detail }] });
}

interface Recorded {
  accepted: number;
  /** The current claim; undefined if the run is over. */
  claim: Claim | undefined;
}

async function recordChunk(table: Table, { domain, cvmId, now }: Batch, run: Run, reports: Report[]): Promise<Recorded> {
  const { id: run_id, computation_id } = run;
  const reference: RunReference = { domain, computation_id, run_id, cvm_id: cvmId };
  const markers = [...new Set(reports.map((report) => report.id))].map((id) => runKeys.report(computation_id, run_id, id));
  const keys = [...keysToChange(domain, computation_id), ...claimKeys(reference)];
  const items = await getItems(table, [...keys, ...markers]);
  const [row, head, ...claimItems] = items.slice(0, keys.length);
  if (!findComputation(row, computation_id)) throw notFound('run');

  const claim = parseClaimOf(reference, claimItems);
  const newReports = withoutMarker(reports, reference, items.slice(keys.length));
  if (newReports.length === 0) return { accepted: 0, claim };

  const transaction = new Transaction();
  for (const report of newReports) transaction.add(marker(report, reference, now));
  const events = eventsOf(newReports, run, claim !== undefined);
  const computation = parseToChange(domain, computation_id, [row, head]);
  if (events.length > 0) await recordEvents(table, transaction, computation, events, now);
  else assertExists(transaction, domain, computation_id);
  const change = claim && claimChangeOf(newReports, claim, now);
  if (claim && change) changeClaim(transaction, claim, change);
  else if (claim && events.length > 0) assertClaimed(transaction, claim); // no event is recorded as the run's after the run's end
  for (const type of claim ? answeredCommands(newReports, claim) : []) removeCommand(transaction, reference, type);
  await transaction.commit(table);

  emitMetrics(newReports, claim, change, now);
  // Read again: before the execution could see this outcome, it may have stored another token in the claim.
  return { accepted: newReports.length, claim: change ? await readClaim(table, reference) : claim };
}

/** Marks a report as recorded. Fails with StaleReadError if a report with this identifier was recorded since the last read. */
function marker(report: Report, { computation_id, run_id }: RunReference, seen_at: string): Action {
  const Item = { ...runKeys.report(computation_id, run_id, report.id), seen_at };
  return { put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() };
}

/** Emits the time until the CVM accepted, and the age of the oldest event by the reporter's clock. */
function emitMetrics(reports: Report[], claim: Claim | undefined, change: ClaimChange | undefined, now: string): void {
  if (claim && change?.set.accepted_at) emitMetric('TimeToAccept', Date.parse(now) - Date.parse(claim.claimed_at));
  const lags = reports.flatMap((report) =>
    report.type === 'event' && report.occurred_at ? [Date.parse(now) - Date.parse(report.occurred_at)] : [],
  );
  if (lags.length > 0) emitMetric('ReportLag', Math.max(0, ...lags));
}

/** Returns the reports without a marker. If several have the same identifier, only the first counts. */
function withoutMarker(reports: Report[], { computation_id, run_id }: RunReference, markers: (Item | undefined)[]): Report[] {
  const seen = new Set(markers.map((item) => item?.['sk']));
  return reports.filter((report) => {
    const { sk } = runKeys.report(computation_id, run_id, report.id);
    const isNew = !seen.has(sk);
    seen.add(sk);
    return isNew;
  });
}

async function notifyExecution(executions: Executions, claim: Claim): Promise<void> {
  if (claim.outcome) {
    await completeTasksOf(executions, claim);
    return;
  }
  if (claim.accepted_at && claim.offer_token) await completeTask(executions, claim.offer_token);
  if (claim.run_token) await sendHeartbeat(executions, claim.run_token);
}
