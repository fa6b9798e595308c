import { computationKey } from '../computations/read-computation.ts';
import { notFound, ServiceError } from '../errors.ts';
import type { NewEvent } from '../events/event.ts';
import { appendEvents } from '../events/journal.ts';
import { parseHead } from '../events/journal-head.ts';
import { changeClaim, parseClaim, readClaim, type Claim, type ClaimChange } from './claim.ts';
import { beatHeart, endWait, type Executions } from './executions.ts';
import { wakeForOutcome } from './wake.ts';
import type { RunReference } from './run-reference.ts';
import { emitMetric } from '../metrics.ts';
import { findRun, runKey } from './read-run.ts';
import type { Run } from '../computations/run.ts';
import { cvmKeys, journalKeys, runKeys } from '../table/keys.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads, type Action } from '../table/transaction.ts';
import { outcomeOfReport } from './outcome-of-report.ts';
import type { Report } from './report.ts';

/** With a marker and an event for each, and what goes with them, below the 100 actions of a transaction. */
const reportsPerTransaction = 40;

interface Batch {
  domain: string;
  cvmId: string;
  reports: Report[];
  now: string;
}

/**
 * Records what a CVM reports: events into the journal, acceptance and outcome into the claim, in one transaction for up to 40
 * reports of a run; then tells the waiting execution. Sent again, a report changes nothing, but what is told is told again.
 * After the end of a run its late events are still recorded.
 * @throws ServiceError `not_found` naming the report whose run is not of this CVM; nothing of the batch is kept then
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
      const recorded = await withFreshReads(table, (fresh) => recordChunk(fresh, batch, run, chunk));
      if (recorded.claim) await tellExecution(executions, recorded.claim);
      accepted += recorded.accepted;
    }
  }
  return { accepted, duplicates: batch.reports.length - accepted };
}

/** The runs that the batch speaks of, in its order. */
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
  /** As it is now; undefined once the run is over. */
  claim: Claim | undefined;
}

async function recordChunk(table: Table, { domain, cvmId, now }: Batch, run: Run, reports: Report[]): Promise<Recorded> {
  const reference: RunReference = { domain, computation_id: run.computation_id, run_id: run.id, cvm_id: cvmId };
  const computation = computationKey(domain, run.computation_id);
  const markerKeys = reports.map((report) => runKeys.report(run.computation_id, run.id, report.id));
  const distinct = [...new Map(markerKeys.map((key) => [key.sk, key])).values()];
  const claimKey = cvmKeys.claim(domain, cvmId);
  const keys = [computation, journalKeys.head(run.computation_id), claimKey];
  const [computationItem, head, claimItem, ...markers] = await getItems(table, [...keys, ...distinct]);
  if (computationItem?.['id'] !== run.computation_id) throw notFound('run');

  const claim = parseClaim(claimItem, run.id);
  const fresh = unseen(reports, markerKeys, distinct, markers);
  if (fresh.length === 0) return { accepted: 0, claim };

  const events = fresh.flatMap((report) => eventOf(report, run, claim !== undefined));
  const journal = events.length > 0 ? await appendEvents(table, run.computation_id, parseHead(head), events, now) : undefined;
  const change = claim && changeFrom(fresh, claim, now);
  await transact(table, [
    ...fresh.map((report) => ({
      put: {
        Item: { ...runKeys.report(run.computation_id, run.id, report.id), seen_at: now },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
      otherwise: new StaleReadError(),
    })),
    {
      check: { Key: computation, ConditionExpression: 'id = :id', ExpressionAttributeValues: { ':id': run.computation_id } },
      otherwise: new StaleReadError(),
    },
    ...(change ? [changeClaim(reference, change, new StaleReadError())] : []),
    ...(claim && journal && !change ? [checkClaim(reference)] : []),
    ...answered(fresh, claim, reference),
    ...(journal?.actions ?? []),
  ]);
  measure(fresh, claim, change, now);
  // Read again: the execution may have left another token with the claim since, before it could see this outcome.
  return { accepted: fresh.length, claim: change ? await readClaim(table, reference) : claim };
}

/** An event that is recorded as one of the run must not come after the run's end. */
function checkClaim({ domain, cvm_id, run_id }: RunReference): Action {
  return {
    check: {
      Key: cvmKeys.claim(domain, cvm_id),
      ConditionExpression: 'run_id = :run_id',
      ExpressionAttributeValues: { ':run_id': run_id },
    },
    otherwise: new StaleReadError(),
  };
}

/** How long the CVM took to accept, and how old the oldest event is by the reporter's clock. */
function measure(reports: Report[], claim: Claim | undefined, change: ClaimChange | undefined, now: string): void {
  if (claim && change?.set?.accepted_at) emitMetric('TimeToAccept', Date.parse(now) - Date.parse(claim.claimed_at));
  const lags = reports.flatMap((report) =>
    report.type === 'event' && report.occurred_at ? [Date.parse(now) - Date.parse(report.occurred_at)] : [],
  );
  if (lags.length > 0) emitMetric('ReportLag', Math.max(0, ...lags));
}

/** The reports that no marker knows, the first of each identifier. */
function unseen(reports: Report[], keys: { sk: string }[], distinct: { sk: string }[], markers: (Item | undefined)[]): Report[] {
  const seen = new Set(distinct.filter((_, index) => markers[index] !== undefined).map((key) => key.sk));
  return reports.filter((_, index) => {
    const sk = keys[index]?.sk ?? '';
    const isNew = !seen.has(sk);
    seen.add(sk);
    return isNew;
  });
}

/** Any word of the agent on a run says that the CVM has taken it, also where `accepted` itself got lost. */
function changeFrom(reports: Report[], claim: Claim, now: string): ClaimChange | undefined {
  const accepts = reports.some(
    (report) => report.type === 'event' || (report.type === 'accepted' && report.command_id === claim.run_command_id),
  );
  const accepted = accepts && claim.accepted_at === undefined;
  const outcome = claim.outcome ?? reports.map((report) => outcomeOfReport(report, claim)).find((found) => found !== undefined);
  if (!accepted && (!outcome || claim.outcome)) return undefined;
  return { ...(accepted ? { set: { accepted_at: now } } : {}), ...(outcome && !claim.outcome ? { outcome } : {}) };
}

/** A command that was answered does not come back. */
function answered(reports: Report[], claim: Claim | undefined, { domain, cvm_id, run_id }: RunReference): Action[] {
  if (!claim) return [];
  const answeredIds = new Set(reports.map((report) => ('command_id' in report ? report.command_id : '')));
  const runIsTaken = answeredIds.has(claim.run_command_id) || reports.some((report) => report.type === 'event');
  return [
    ...(runIsTaken ? [{ delete: { Key: cvmKeys.command(domain, cvm_id, run_id, 'run') } }] : []),
    ...(answeredIds.has(claim.stop_command_id) ? [{ delete: { Key: cvmKeys.command(domain, cvm_id, run_id, 'stop') } }] : []),
  ];
}

/** What comes after the end of the run is recorded, and is not its status. */
function eventOf(report: Report, run: Run, isActive: boolean): NewEvent[] {
  if (report.type !== 'event') return [];
  const { event_type, status, originator, occurred_at } = report;
  const details = report.details ? Buffer.from(report.details, 'base64') : occurred_at ? { occurred_at } : {};
  return [{ event_type, status, originator, run_id: run.id, cvm_id: run.cvm_id, details, lifecycle: isActive }];
}

async function tellExecution(executions: Executions, claim: Claim): Promise<void> {
  if (claim.outcome) {
    await wakeForOutcome(executions, claim);
    return;
  }
  if (claim.accepted_at && claim.offer_token) await endWait(executions, claim.offer_token);
  if (claim.run_token) await beatHeart(executions, claim.run_token);
}
